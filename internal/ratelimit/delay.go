package ratelimit

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// MaxDelay is the longest delay that is ever reported: long enough for the 86400 s that Azure asks for, short
	// enough that every sender is asked again once a day.
	MaxDelay = 24 * time.Hour

	// absurd is a delay that nobody means.
	absurd = 366 * 24 * time.Hour

	// maxValue is twice the longest form of a number, duration or date.
	maxValue = 64
)

// told is a delay, if one was told.
type told struct {
	delay time.Duration
	ok    bool
}

func (t *told) longest(u told) {
	if u.ok && (!t.ok || u.delay > t.delay) {
		*t = u
	}
}

func (t *told) shortest(u told) {
	if u.ok && (!t.ok || u.delay < t.delay) {
		*t = u
	}
}

// span makes a delay of d: not told if it is negative or absurd, else bounded.
func span(d time.Duration) told {
	if d < 0 || d > absurd {
		return told{}
	}
	return told{delay: min(d, MaxDelay), ok: true}
}

// clock is the sender's: the response's Date, or now without one. The Date is read when an
// instant needs it, which is seldom.
type clock struct {
	header http.Header
	now    time.Time
	set    bool
}

func (c *clock) time() time.Time {
	if c.set {
		return c.now
	}
	c.set = true
	var date time.Time
	for name, values := range c.header {
		if !strings.EqualFold(name, "Date") {
			continue
		}
		for _, value := range values {
			if t, ok := httpDate(strings.TrimSpace(value)); ok && t.After(date) {
				date = t
			}
		}
	}
	if !date.IsZero() {
		c.now = date
	}
	return c.now
}

// until is the delay until an instant.
func (c *clock) until(t time.Time) told {
	d := t.Sub(c.time())
	if d < -absurd {
		return told{}
	}
	return span(max(d, 0))
}

// delay reads a delay in any form. unit is that of a bare number.
func (c *clock) delay(value string, unit time.Duration) told {
	value = strings.TrimSpace(value)
	if value == "" {
		return told{}
	}
	if value[0] > '9' { // a letter: the day of the week
		if t, ok := httpDate(value); ok {
			return c.until(t)
		}
		return told{}
	}
	value = item(value)
	if n, ok := number(value); ok {
		return c.number(n, unit)
	}
	if len(value) > maxValue {
		return told{}
	}
	if len(value) > 4 && value[4] == '-' {
		if t, err := time.Parse(time.RFC3339, value); err == nil {
			return c.until(t)
		}
		return told{}
	}
	if d, err := time.ParseDuration(value); err == nil {
		return span(d)
	}
	return told{}
}

// number makes a delay of a bare number. A Unix time is told by its size: as a delay it would be of 31 years.
func (c *clock) number(n float64, unit time.Duration) told {
	switch {
	case unit == time.Second && n > 1e14: // in the year 5138, so neither seconds nor milliseconds
		return told{}
	case unit == time.Second && n > 1e12:
		return c.until(time.UnixMilli(int64(n)))
	case unit == time.Second && n > 1e9:
		whole, part := math.Modf(n)
		return c.until(time.Unix(int64(whole), int64(part*1e9)))
	}
	d := math.Round(n * float64(unit))
	if d > float64(absurd) { // it may not fit a Duration
		return told{}
	}
	return span(time.Duration(d))
}

// httpDate reads the three forms that HTTP has for a date.
func httpDate(value string) (time.Time, bool) {
	if len(value) > maxValue {
		return time.Time{}, false
	}
	t, err := http.ParseTime(value)
	return t, err == nil
}

// count reads a number of requests or tokens, whole ones. Negative ones stand for "unknown".
func count(value string) (int64, bool) {
	n, ok := number(item(strings.TrimSpace(value)))
	if !ok || n < 0 {
		return 0, false
	}
	return int64(min(n, MaxCount)), true
}

// item is the first item of a list, without its parameters: 100 of "100, 100;w=60".
func item(value string) string {
	if i := strings.IndexAny(value, ",;"); i >= 0 {
		return strings.TrimSpace(value[:i])
	}
	return value
}

// number reads a finite decimal number. strconv knows more than that: infinities, hexadecimal.
func number(value string) (float64, bool) {
	if value == "" || len(value) > maxValue {
		return 0, false
	}
	for i := range len(value) {
		if c := value[i]; (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	n, err := strconv.ParseFloat(value, 64)
	return n, err == nil
}
