"""Print the variables under which NumPy and numba compute with narrower vectors than this processor has.

NumPy is told to leave out what its own report calls found: all beyond AVX2 where there is any, otherwise all beyond its
baseline. It warns of names that the processor lacks, so that none of these is given. OpenBLAS is left alone.
"""

import numpy as np

found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
wide = [name for name in found if "512" in name or name == "X86_V4"] or found
if wide:
    print(f"NPY_DISABLE_CPU_FEATURES={','.join(wide)}")
print(f"NUMBA_CPU_NAME={'haswell' if {'AVX2', 'X86_V3'} & set(found) else 'generic'}")
