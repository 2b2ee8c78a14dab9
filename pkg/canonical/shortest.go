package canonical

import (
	"cmp"
	"math/bits"
)

// maxPower is the largest power of ten in a uint64.
const maxPower = 19

var powersOfTen = func() (p [maxPower + 1]uint64) {
	p[0] = 1
	for i := 1; i <= maxPower; i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// digitsValue returns the number that the digits of whole and then fraction
// write, at most maxDigits of them after leading zeros.
func digitsValue(whole, fraction []byte) (d uint64) {
	for _, c := range whole {
		d = d*10 + uint64(c-'0')
	}
	for _, c := range fraction {
		d = d*10 + uint64(c-'0')
	}
	return d
}

// isShortest reports whether D = d·10^-k is the decimal that ECMAScript prints
// for the double f nearest to D: no decimal of fewer digits is read as f, and D
// is the closest to f of those with as many digits. d has 16 or 17 digits. True
// is exact; false leaves the answer open, which is so when D is not that decimal
// or ends in 0, and for powers of two, whose neighbours stand at two distances.
//
// It takes a division and some products where a conversion to the double and
// back would take several times as long. All values are integers in units of
// 2^-s·10^-k, in which D is d·2^s and one unit of its last digit is 2^s.
func isShortest(d uint64, k int) bool {
	if k > maxPower || d%10 == 0 {
		return false
	}
	power := powersOfTen[k]
	// s puts the quotient between 2^61 and 2^63, so that it has all 53 bits of
	// f and some to round by; 6 <= s <= 76.
	s := uint(62 + bits.Len64(power) - bits.Len64(d))
	scaled := shifted(d, s)
	quotient, rest := bits.Div64(scaled.hi, scaled.lo, power)
	drop := uint(bits.Len64(quotient) - 53)
	half := uint64(1) << (drop - 1)
	mantissa := (quotient + half) >> drop
	if mantissa&(mantissa-1) == 0 {
		return false
	}
	// f is mantissa·2^drop·power, and delta its distance from D.
	var delta uint128
	above := quotient >= mantissa<<drop // D >= f
	if above {
		delta = product(quotient-mantissa<<drop, power).plus(uint128{0, rest})
	} else {
		delta = product(mantissa<<drop-quotient, power).minus(uint128{0, rest})
	}
	// D is the closest when it is off by less than half a unit. This also refuses
	// a D midway between two doubles: they are more than a unit apart.
	if delta.plus(delta).compare(shifted(1, s)) >= 0 {
		return false
	}
	// With a digit less, the nearest decimals below and above are down and up
	// units from D; both must lie outside of what is read as f, which reaches
	// half the distance between doubles to each side.
	reach := product(half, power)
	down, up := shifted(d%10, s), shifted(10-d%10, s)
	if above {
		down, up = down.minus(delta), up.plus(delta)
	} else {
		down, up = down.plus(delta), up.minus(delta)
	}
	return down.compare(reach) > 0 && up.compare(reach) > 0
}

type uint128 struct{ hi, lo uint64 }

// shifted returns x·2^n.
func shifted(x uint64, n uint) uint128 {
	if n >= 64 {
		return uint128{x << (n - 64), 0}
	}
	return uint128{x >> (64 - n), x << n}
}

// product returns x·y.
func product(x, y uint64) uint128 {
	hi, lo := bits.Mul64(x, y)
	return uint128{hi, lo}
}

func (a uint128) plus(b uint128) uint128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return uint128{hi, lo}
}

func (a uint128) minus(b uint128) uint128 {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return uint128{hi, lo}
}

func (a uint128) compare(b uint128) int {
	if a.hi != b.hi {
		return cmp.Compare(a.hi, b.hi)
	}
	return cmp.Compare(a.lo, b.lo)
}
