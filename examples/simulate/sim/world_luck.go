package sim

import "math"

// luck is a stream of random numbers (splitmix64). It costs no allocation, and what
// it gives depends on the words that it was made of alone.
type luck uint64

// luckOf returns the luck that belongs to some words, whatever they count.
func luckOf(words ...uint64) luck {
	var l luck
	for _, w := range words {
		l ^= luck(w)
		l = luck(l.next())
	}
	return l
}

func (l *luck) next() uint64 {
	*l += 0x9e3779b97f4a7c15
	x := uint64(*l)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// uniform is in [0, 1).
func (l *luck) uniform() float64 { return float64(l.next()>>11) / (1 << 53) }

// normals are two independent standard normal numbers, by Box and Muller.
func (l *luck) normals() (a, b float64) {
	r := math.Sqrt(-2 * math.Log(1-l.uniform()))
	sin, cos := math.Sincos(2 * math.Pi * l.uniform())
	return r * cos, r * sin
}

func (l *luck) normal() float64 {
	a, _ := l.normals()
	return a
}

// exponential has mean 1.
func (l *luck) exponential() float64 { return -math.Log(1 - l.uniform()) }

// gamma has mean 1 and the given shape, by Marsaglia and Tsang.
func (l *luck) gamma(shape float64) float64 {
	if shape < 1 {
		return l.gamma(shape+1) * (shape + 1) / shape * math.Pow(1-l.uniform(), 1/shape)
	}
	d := shape - 1.0/3
	for {
		z := l.normal()
		v := 1 + z/math.Sqrt(9*d)
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-l.uniform()) < z*z/2+d-d*v+d*math.Log(v) {
			return d * v / shape
		}
	}
}
