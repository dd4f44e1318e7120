"""What the help of every command says before and after its options. Standard library only."""

__all__ = ["ABOUT", "CHECK", "CHECK_MORE", "COMPILE", "DECOUPLE", "DECOUPLE_MORE", "DEMO", "EXAMPLES", "EXPLAIN",
           "EXPLAIN_MORE", "EXPLORE", "EXPLORE_MORE", "REPRODUCE", "REPRODUCE_MORE", "TRANSFER", "TRANSFER_MORE"]

ABOUT = """\
Decoupling of global features of samples: exact verdicts and accurate numbers.

commands:
  check FORMULA...   decide whether features can be decoupled, with a certificate
  explore FORMULA... which of the features, in which order, come out decoupled exactly
  explain FORMULA... the verdict in words, with the theorem that carries it
  decouple FILE      orthokurtosis, decoupled moments or your own features of a file,
                     the plan behind them, and its formulas as text, LaTeX or code
  transfer SOURCE TARGET -o OUT
                     a picture with the moments and band energies of another one
  reproduce NAME     a table or figure of the source, recomputed beside its numbers
  demo               a guided tour on Michelson's speed of light, in seconds
  compile            compile the kernels for large arrays, once (needs numba)

  symdecouple COMMAND --help    tells more about one of them"""

EXAMPLES = """\
examples:
  symdecouple demo
  symdecouple check "mean(x)" "variance()" "kurtosis()"
  symdecouple decouple measurements.csv
  symdecouple decouple measurements.csv --moments 6
  symdecouple decouple --features "mean(x)" "mean(x^2)" "mean(x^3)" --explain

exit codes: 0 proved or done, 1 refuted, 2 undecided, 3 bad input, 4 some values
refused, 70 internal error, 130 interrupted"""

CHECK = """\
Decide two conditions, exactly, for every sample size at once (or for one, -n):
  C1  the gradients of the features are linearly independent
  C2  they span an involutive distribution (Frobenius)
Both together let the features be decoupled one after the other. Each answer
carries a certificate, which is verified by another route before it is printed."""

CHECK_MORE = """\
formulas:
  mean(...) averages over the sample x:  mean(x), mean(x^2) - mean(x)^2
  ready-made:    variance(), std(), skewness(), kurtosis(), central(3)
  functions:     exp log sqrt sin cos tanh ...   neighbours: mean(x*shift(1)(x))
  filters:       mean(taps((-1, 0, 1))(x)^2), mean(filter(h)(x)^2)
  other names are parameters; with -n 3 the coordinates are x1, x2, x3
  - reads formulas from standard input, one a line

examples:
  symdecouple check "mean(x)" "mean(x^2)" "mean(x^3)"
  symdecouple check "mean(x)" "mean(x^2 + a*x^3)" --at a=0
  symdecouple check "mean(log(x))" "mean(log(x)^2)" --domain x=positive
  symdecouple check "x1*x2" "x1 + x2^2" -n 2
  symdecouple check "mean(x)" "variance()" --json > verdict.json
  symdecouple check "mean(x)" "variance()" --document > proof.tex

exit codes: 0 C1 and C2 proved, 1 at least one refuted, 2 undecided, 3 bad input,
70 the certificate failed its verification (please report it), 130 interrupted"""

EXPLORE = """\
Decide C1 and C2 for every subset of the features, and for the modified sets of
every order: in which of the four scenarios each order is, which are the longest
orders of which every decoupled feature is proved decoupled from all before it,
and what one more feature would cost. What takes too long is UNDECIDED, not "no"."""

EXPLORE_MORE = """\
formulas are those of symdecouple check --help. Ctrl-C stops, and prints what was
decided until then. Six moments take about a minute.

examples:
  symdecouple explore "mean(x)" "mean(x^2)" "mean(x^3)"
  symdecouple explore "mean(x)" "mean(x^2)" "mean(x^4)" --data measurements.csv
  symdecouple explore "mean(x)" "mean(exp(x))" "mean(exp(-x))" --json > sets.json

exit codes: 0 every set and order was answered, 4 the budget was spent before that,
3 bad input, 130 interrupted"""

EXPLAIN = """\
Say in words what a verdict on C2 means: the question, the answer, the theorem that
carries it, what follows for decoupling, and how to check it."""

EXPLAIN_MORE = """\
Formulas, which have a parenthesis, are decided first, as symdecouple check does. A
FILE holds one verdict, as check --json or Verdict.to_json write it; it is verified
before it is believed.

examples:
  symdecouple explain "mean(x)" "variance()" "kurtosis()"
  symdecouple check "mean(x)" "mean(x^3)" --json > verdict.json
  symdecouple explain verdict.json

exit codes: 0 C1 and C2 proved, 1 at least one refuted, 2 undecided, 3 bad input, a
verdict that does not verify among it, 130 interrupted"""

DECOUPLE = """\
Print one line a sample: N, mean, variance, skewness, kurtosis, and beside it the
orthokurtosis, the kurtosis that is left when the skewness is taken out along its
own flow. Moments are those of the population (1/N); a normal distribution has
kurtosis 3. What has no value is never NaN: it is left empty, and the reason told.

--moments and --features print decoupled features instead, each decoupled from
those before it, and open the plan: --explain, --formulas, --normalize, --dps."""

DECOUPLE_MORE = """\
files:
  text  separated by commas, semicolons, tabs or spaces; # or % begins a comment
        before the data; names in the first line or in a comment, units below
        them, quotes, UTF-8 and UTF-16, and decimal commas are understood; an empty
        field, NA, NaN, null, None or an error such as #DIV/0! is a missing value
  NPY   one array of real numbers, as numpy.save writes it; 1-D is one sample
  gzip  either, compressed
  -     standard input, of any kind

which samples (--axis auto): the columns where a header line names them, or where
every line holds one number; otherwise the rows. For NPY the last axis (rows).
Rows may differ in length. A first column of text labels the rows; other columns
of text are left out, and named.

decoupled features: feature k is taken at the sample whose features 1 to k - 1 were
brought to the reference values. Formulas are those of symdecouple check --help.
With --dps decimals are read exactly: 0.1 is 1/10. Options about the plan alone
mean --moments 4. --explain and --formulas need no FILE.

examples:
  symdecouple decouple measurements.csv
  symdecouple decouple runs.csv --axis rows --nan-policy omit
  symdecouple decouple table.csv --columns height,weight --format csv
  symdecouple decouple table.csv --columns height --groups city
  symdecouple decouple images.npy --json --output shape.json
  symdecouple decouple runs.csv --moments 6
  symdecouple decouple runs.csv --features "mean(x)" "mean(x^2)" "mean(x^4)" --dps 30
  symdecouple decouple runs.csv --moments 4 --normalize --level 3 -o normalized.csv
  symdecouple decouple returns.csv --match keep,keep,0,4 -o simulated.csv
  symdecouple decouple --features "mean(x)" "mean(exp(x))" --explain
  symdecouple decouple --moments 3 --formulas code > normalizer.py

exit codes: 0 every value computed, 4 some were refused, 3 bad input"""

TRANSFER = """\
Write SOURCE with the decoupled features of TARGET: its moments, the energies of
its bands of frequencies, or both. What SOURCE is otherwise is kept: normalized,
SOURCE and the result are one picture. The sizes of the two may differ."""

TRANSFER_MORE = """\
files:
  SOURCE, TARGET  PNG, TIFF or JPEG (with Pillow), or an NPY array: a signal (N,),
                  an image (height, width) or colours (height, width, channels)
  OUT             PNG or TIFF, with the bits of SOURCE: rounded, and limited to the
                  range, which is told; or NPY, float64 as it was computed
What is transparent is refused; an alpha channel that hides nothing is left out. Of
a camera's JPEG the first picture is taken. Colour profile and resolution are those
of SOURCE. Levels are not changed, but those of TARGET are scaled where it has
another number of bits than SOURCE.

features: moments:K are those up to order K; energies are those of nine filters of
3 x 3 pixels (signals: three of 3 samples). Each is decoupled from those before it.
A moment above the second beside energies takes minutes unless the energies come
first, as in energies,moments:4.

examples:
  symdecouple transfer blurred.png sharp.png -o sharpened.png
  symdecouple transfer wall.png grass.png -o new.png --features energies
  symdecouple transfer a.png b.png -o c.tif --features moments:4 --colour opponent
  symdecouple transfer a.npy b.npy -o c.npy --json > transfer.json
  symdecouple transfer a.png b.png -o c.png --features moments:3 --cube look.cube

exit codes: 0 written, 4 refused and nothing written, 3 bad input"""

COMPILE = """\
Compile the kernels that large arrays use where numba is installed, and keep them
on the disk: a quarter of a minute, once. Nothing else depends on it."""

DEMO = """\
A guided tour on Michelson's measurements of the speed of light, 1879: features
declared, their verdicts with certificates, and decoupled values. Everything it
shows is computed while you wait."""

REPRODUCE = """\
Recompute a table or figure of the source, and print it beside what is printed
there, with the reason of each difference. Without a name, all are listed."""

REPRODUCE_MORE = """\
The experiments on textures need the pictures of the Brodatz album, 112 grey
pictures of 640 x 640 pixels, in one folder: --data DIR. Regression and texture
classification need scikit-learn: pip install "symdecouple[sklearn]".

examples:
  symdecouple reproduce
  symdecouple reproduce discrimination
  symdecouple reproduce orthogonality --data brodatz --full -o results

exit codes: 0 done, 3 bad input or missing pictures, 130 interrupted: the same
command goes on where it was, if it has a folder, -o"""
