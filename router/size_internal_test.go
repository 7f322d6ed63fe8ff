package router

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestFitSizes(t *testing.T) {
	approx := cmpopts.EquateApprox(1e-6, 0)
	tests := []struct {
		name   string
		points []point
		want   sizeFit
	}{
		// b is the prior where one size says nothing about the slope; a = 0.5 - 1000b.
		{"one size", []point{{1000, 0.5, 64}}, sizeFit{0.44, 60e-6}},
		// Means 2500 and 0.5, sums of products 20*2000*0.2 = 8000 and of squares 8e7:
		// b = (8000 + 6.25e6*60e-6) / (8e7 + 6.25e6) = 8375/8.625e7.
		{"two sizes", []point{{500, 0.3, 10}, {4500, 0.7, 10}}, sizeFit{0.5 - 2500*8375/8.625e7, 8375 / 8.625e7}},
		// The prior's own line stays what it is: 0.2 + 60e-6*s.
		{"as expected", []point{{500, 0.23, 3}, {4500, 0.47, 40}, {20000, 1.4, 64}}, sizeFit{0.2, 60e-6}},
		// A longer prompt never takes less time: the weighed mean is all that is left.
		{"falling", []point{{500, 0.9, 60}, {4500, 0.1, 20}}, sizeFit{0.7, 0}},
		// 0.5 - 50000*60e-6 is below 0; a fifth of the median is fixed, and the line
		// from there: (6.25e6*60e-6 + 50000*0.4) / (6.25e6 + 2.5e9).
		{"steep", []point{{50000, 0.5, 1}}, sizeFit{0.1, 20375 / 2.50625e9}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, fitSizes(test.points), approx, cmp.AllowUnexported(sizeFit{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	// Before there are samples the relatives' median is that of 1000 tokens.
	for _, median := range []float64{0.5, 0.05} {
		wantFloat(t, "median at the reference", guessSizes(median).at(refPrompt), median)
	}
}

func TestSizeBuckets(t *testing.T) {
	for _, c := range []struct {
		tokens float64
		want   int
	}{{0, 0}, {512, 0}, {513, 1}, {2048, 1}, {2049, 2}, {8192, 2}, {8193, 3}, {32768, 3}, {32769, 4}, {1e9, 4}} {
		if got := sizeBucket(c.tokens); got != c.want {
			t.Errorf("bucket of %v tokens = %d, want %d", c.tokens, got, c.want)
		}
	}
	for i, tokens := range sizeMiddle {
		if sizeBucket(tokens) != i {
			t.Errorf("%v tokens do not lie in bucket %d", tokens, i)
		}
	}
}

// Only the latest 64 of a bucket count: of 100 values rising by 1 the last 64 are 36
// to 99, and their median 67.5.
func TestSamplesKeepTheLatest(t *testing.T) {
	var s samples
	for i := range 100 {
		s.add(float64(100+i), float64(i))
	}
	want := []point{{tokens: 167.5, seconds: 67.5, weight: 64}}
	if diff := cmp.Diff(want, s.points(nil), cmp.AllowUnexported(point{})); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	s.add(5000, 3)
	want = append(want, point{5000, 3, 1})
	if diff := cmp.Diff(want, s.points(nil), cmp.AllowUnexported(point{})); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
}

func TestRatio(t *testing.T) {
	r := newRatio()
	r.add(300, 100) // the prior counts for 4: 4 + (3-4)/5
	wantFloat(t, "after one of 3", r.bytesPerToken, 3.8)
	r.add(300, 100) // 3.8 - 0.8/6
	wantFloat(t, "after two of 3", r.bytesPerToken, 3.8-0.8/6)
	for range 1000 {
		r.add(300, 100)
	}
	wantFloat(t, "in the end", r.bytesPerToken, 3)
	r.add(1<<20, 100) // counts as 16: 3 + 13/64
	wantFloat(t, "after an image", r.bytesPerToken, 3+13.0/64)
	r.add(0, 100)
	r.add(100, 0)
	wantFloat(t, "after nothing", r.bytesPerToken, 3+13.0/64)
}
