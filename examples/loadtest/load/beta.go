package load

import "math"

// beta is the regularised incomplete beta function I_x(a, b), for a and b of at least 1.
// It is the distribution of the a-th of a+b-1 uniform values in their order, and a sum of
// binomial probabilities. The continued fraction is that of the NIST Digital Library of
// Mathematical Functions, 8.17.22, and is evaluated by Lentz's method; it converges fast
// below (a+1)/(a+b+2), and beyond by symmetry.
func beta(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - beta(b, a, 1-x)
	}
	return math.Exp(a*math.Log(x)+b*math.Log1p(-x)-logBeta(a, b)) / a * betaFraction(a, b, x)
}

func logBeta(a, b float64) float64 {
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	return la + lb - lab
}

func betaFraction(a, b, x float64) float64 {
	const tiny = 1e-300 // in place of zero, to divide by
	apart := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/apart(1-(a+b)*x/(a+1))
	value := d
	for m := 1.0; m < 10_000; m++ {
		for _, term := range [2]float64{
			m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)),
			-(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1)),
		} {
			d = 1 / apart(1+term*d)
			c = apart(1 + term/c)
			value *= c * d
		}
		if math.Abs(c*d-1) < 1e-14 {
			break
		}
	}
	return value
}
