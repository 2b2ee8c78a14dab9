package canonical

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// isCanonicalNumber is the plain way: convert, print, compare.
func isCanonicalNumber(text string) bool {
	if scanNumber([]byte(text), 0) != len(text) {
		return false
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && string(appendNumber(nil, f)) == text
}

func checkNumber(t *testing.T, text string) {
	t.Helper()
	if got, want := Valid([]byte(text)), isCanonicalNumber(text); got != want {
		t.Fatalf("Valid(%s) = %v, conversion says %v", text, got, want)
	}
}

func TestNumbersAreWrittenAsECMAScriptWritesThem(t *testing.T) {
	for src, want := range map[string]string{
		"0": "0", "-0": "0", "0.0": "0", "-0e5": "0", "1.0": "1", "1.50": "1.5", "10": "10", "1E2": "100", "1e+2": "100", "123e-2": "1.23",
		"1e20": "100000000000000000000", "1e21": "1e+21", "-1e21": "-1e+21", "999999999999999999999": "1e+21", "123456789012345680000": "123456789012345680000",
		"0.000001": "0.000001", "0.0000009": "9e-7", "1e-7": "1e-7", "12e-8": "1.2e-7", "1e-10": "1e-10", "1.5e300": "1.5e+300", "-1.5e-300": "-1.5e-300",
		"5e-324": "5e-324", "2.4703282292062328e-324": "5e-324", "2.4703282292062327e-324": "0", "1e-400": "0", "-1e-400": "0",
		"1.7976931348623157e308": "1.7976931348623157e+308", "1.7976931348623158e308": "1.7976931348623157e+308",
		"2.2250738585072011e-308": "2.225073858507201e-308", "9007199254740993": "9007199254740992", "144115188075855872": "144115188075855870",
		"-0.0000012345678901234567": "-0.0000012345678901234567", "0.1e1": "1", "5e-7": "5e-7", "1e23": "1e+23", "9.5367431640625e-7": "9.5367431640625e-7",
	} {
		if got, err := Transform([]byte(src)); err != nil || string(got) != want {
			t.Errorf("Transform(%s) = %s, %v; want %s", src, got, err, want)
		}
		if !Valid([]byte(want)) || src != want && Valid([]byte(src)) {
			t.Errorf("Valid is wrong about %s or %s", src, want)
		}
	}
}

func TestValidRefusesEveryOtherSpellingOfANumber(t *testing.T) {
	for _, text := range []string{
		"-0", "00", "01", "-01", "+1", ".5", "1.", "-", "1.0", "1.50", "0.10", "1e0", "1e2", "1E21", "1e21", "1e+021", "1e-07", "1.0e-7", "10e-8", "0e0", "0.0",
		"0.0000001", "0.0000009", "1000000000000000000000", "1e+20", "1e-6", "1.5e+20", "9007199254740993", "144115188075855872", "18446744073709551615",
		"0.30000000000000003", "0.300000000000000041", "3.1415926535897932", "1.00000000000000000001", "1e+309", "-1e+400", "1e-400", "0x1", "1_0", "NaN", "Infinity",
		"1" + strings.Repeat("0", 400), "0." + strings.Repeat("0", 400) + "1", "1e+" + strings.Repeat("9", 400), "1" + strings.Repeat("0", 30) + "e-30",
	} {
		if Valid([]byte(text)) || Valid([]byte("["+text+"]")) || Valid([]byte(`{"a":`+text+`}`)) {
			t.Errorf("Valid(%.60s) = true", text)
		}
	}
}

func TestADecimalOfUpTo15DigitsIsCanonicalAsItStands(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 15))
	n := 300_000
	buf := make([]byte, 0, 40)
	for range n {
		digits := 1 + rng.IntN(exactDigits)
		d := rng.Uint64N(powersOfTen[digits])
		if d%10 == 0 {
			d++
		}
		buf = strconv.AppendUint(buf[:0], d, 10)
		if point := rng.IntN(len(buf) + 7); point >= len(buf) { // 0.000ddd
			buf = []byte("0." + strings.Repeat("0", point-len(buf)) + string(buf))
		} else if point > 0 {
			buf = []byte(string(buf[:len(buf)-point]) + "." + string(buf[len(buf)-point:]))
		} else if zeros := rng.IntN(22 - len(buf)); zeros > 0 {
			buf = append(buf, "00000000000000000000"[:zeros]...)
		}
		if len(buf) > 1 && rng.IntN(4) == 0 {
			buf = append([]byte("-"), buf...)
		}
		want := isCanonicalNumber(string(buf))
		small := strings.HasPrefix(strings.TrimPrefix(string(buf), "-"), "0.000000")
		if want == small {
			t.Fatalf("%s: the rule itself is wrong", buf)
		}
		if Valid(buf) != want {
			t.Fatalf("Valid(%s) = %v", buf, !want)
		}
	}
}

func TestLongDecimalsAreJudgedAsConversionJudgesThem(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 17))
	for range 20_000 {
		var f float64
		switch rng.IntN(4) {
		case 0:
			f = rng.Float64() * math.Pow(10, float64(rng.IntN(25)-6))
		case 1:
			f = math.Ldexp(1, rng.IntN(110)-25) // powers of two and their neighbours
			f = math.Float64frombits(math.Float64bits(f) + uint64(rng.IntN(5)) - 2)
		case 2:
			f = float64(rng.Uint64()>>rng.IntN(14)) + float64(rng.IntN(4))/4
		default:
			f = math.Float64frombits(rng.Uint64())
			if math.IsNaN(f) || math.IsInf(f, 0) {
				f = 1.0 / 3
			}
		}
		if rng.IntN(8) == 0 {
			f = -f
		}
		text := appendNumber(nil, f)
		if !Valid(text) {
			t.Fatalf("Valid(%s) = false", text)
		}
		// One unit and one digit more or less.
		for _, last := range "0123456789" {
			checkNumber(t, string(text[:len(text)-1])+string(last))
		}
		checkNumber(t, string(text[:len(text)-1]))
		checkNumber(t, string(text)+string("123456789"[rng.IntN(9)]))
		checkNumber(t, strconv.FormatFloat(f, 'f', 17, 64))
		checkNumber(t, strconv.FormatFloat(f, 'e', 16, 64))
		checkNumber(t, strconv.FormatFloat(f, 'f', 0, 64))
	}
}

func TestIsShortestIsNeverWrongAndSeldomOpen(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 54))
	yes, shortest := 0, 0
	for range 60_000 {
		d := rng.Uint64N(powersOfTen[17]-powersOfTen[15]) + powersOfTen[15]
		k := rng.IntN(maxPower + 1)
		if rng.IntN(3) > 0 { // random digits are hardly ever the shortest
			f := rng.Float64() * math.Pow(10, float64(rng.IntN(17)))
			if rng.IntN(3) == 0 {
				f = math.Ldexp(1, rng.IntN(64)-8)
			}
			d, k = digitsAndScale(f)
			if last := d + rng.Uint64N(3) - 1; rng.IntN(4) == 0 {
				d = last
			}
			if d < powersOfTen[15] || k < 0 || k > maxPower {
				continue
			}
		}
		f, err := strconv.ParseFloat(strconv.FormatUint(d, 10)+"e-"+strconv.Itoa(k), 64)
		if err != nil {
			t.Fatal(err)
		}
		got := isShortest(d, k)
		wantD, wantK := digitsAndScale(f)
		want := d == wantD && k == wantK
		if got && !want {
			t.Fatalf("isShortest(%d, %d) = true, but the shortest are %d, %d", d, k, wantD, wantK)
		}
		if got {
			yes++
		}
		if want && math.Float64bits(f)<<12 != 0 { // no power of two
			shortest++
		}
	}
	if yes < 10_000 || yes*100 < shortest*98 { // ties between two decimals stay open
		t.Errorf("yes for %d of %d", yes, shortest)
	}
}

// digitsAndScale returns d and k of the shortest decimal d·10^-k for f.
func digitsAndScale(f float64) (d uint64, k int) {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	e, _ := strconv.Atoi(exponent)
	d, _ = strconv.ParseUint(whole+fraction, 10, 64)
	return d, len(fraction) - e
}
