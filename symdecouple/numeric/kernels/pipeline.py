"""How numba is led through the functions that `jit` compiles: in two thirds of the time, to code a little faster.

Most of a cold compile is not making machine code but what numba does before it, and much of that is done again and
again. Five things change, by classes and methods that numba lets its users replace.

* What a call of an operator on given types means is looked up once, not in each of the rounds of type inference.
* Flags are compared by what is set, not by all that could be; numba does so at every lookup of an implementation.
* Passes for what our functions do not have (closures, array expressions, `with`, literal lists) are left out.
* A function that only others of ours call is linked into these and optimized there; it is no machine code of its own.
* Loops take the widest vectors of a machine where these cost nothing else: a tenth to a quarter less time.

The garbage collector rests meanwhile, and is left as it was found.

A kernel is loops over scalars, then: an array expression still works, but makes an array for each of its operations.
"""

from __future__ import annotations

import gc
from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["pipelines"]

_TRIED = (0, 68)  # the newest release of numba whose inner parts are known to be as they are used here
_NEEDLESS = {
    "with_lifting",
    "inline_closure_likes",
    "make_function_op_code_to_jit_function",
    "rewrite_semantic_constants",
    "dead_branch_prune",
    "inline_inlinables",
    "inline_overloads",
    "find_literally",
    "literal_unroll",
    "LiteralPropagation",
    "nopython_rewrites",
    "dump_parfor_diagnostics",
}


@cache
def pipelines() -> tuple[Any, Any]:
    """The compiler classes for kernels that Python calls, and for functions that only these call.

    Both are numba's own where it is newer than what was tried: slower, and nothing can be missing.
    """
    compiler = import_module("numba.core.compiler")
    Compiler: Any = compiler.Compiler
    if import_module("numba").version_info.short > _TRIED:
        return Compiler, Compiler
    Flags: Any = compiler.Flags
    JITCodeLibrary: Any = import_module("numba.core.codegen").JITCodeLibrary
    types = import_module("numba.core.types")

    class QuickFlags(Flags):  # type: ignore[misc]
        def __hash__(self) -> int:
            return hash((len(self._values), self.nrt, len(self.fastmath.flags)))

        def __eq__(self, other: object) -> bool:
            if isinstance(other, QuickFlags):
                return bool(self._values == other._values)
            return bool(super().__eq__(other))

    class Remembering:
        """A typing context that looks up what an operator does to given types once."""

        def __init__(self, context: Any, known: dict[Any, Any]) -> None:
            self._context, self._known = context, known

        def __getattr__(self, name: str) -> Any:
            return getattr(self._context, name)

        def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
            is_builtin = isinstance(func, types.Function) or not isinstance(func, types.Type)
            if kws or not is_builtin:
                return self._context.resolve_function_type(func, args, kws)
            return self._once((func, args), lambda: self._context.resolve_function_type(func, args, kws))

        def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
            return self._once((target, index, value), lambda: self._context.resolve_setitem(target, index, value))

        def _once(self, key: Any, resolve: Any) -> Any:
            try:
                found = self._known.get(key)
            except TypeError:  # an index that is a slice
                return resolve()
            if found is None:
                found = resolve()
                if found is not None:
                    self._known[key] = found
            return found

    bits = _vector_width()

    class Whole(JITCodeLibrary):  # type: ignore[misc]
        """Code whose loops take the vectors of the machine at their full width."""

        def add_ir_module(self, ir_module: Any) -> None:
            if bits:
                for function in ir_module.functions:
                    if not function.is_declaration:
                        set.add(function.attributes, f'"prefer-vector-width"="{bits}"')  # past a list of known names
            super().add_ir_module(ir_module)

    class Part(Whole):
        """Code that is linked into that of others, and neither optimized nor run by itself."""

        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._finalized = True

        @property
        def codegen(self) -> Any:
            return self

        def set_env(self, name: str, env: Any) -> None:
            """Nothing: what is not run has no environment in memory."""

    known: dict[Any, dict[Any, Any]] = {}  # an implementation belongs to the flags it was compiled with

    class Entry(Compiler):  # type: ignore[misc]
        def __init__(
            self, typingctx: Any, targetctx: Any, library: Any, args: Any, return_type: Any, flags: Any, locals: Any
        ) -> None:
            super().__init__(typingctx, targetctx, library, args, return_type, QuickFlags(flags), locals)
            of_flags = known.setdefault((typingctx, flags.nrt, frozenset(flags.fastmath.flags)), {})
            self.state.typingctx = Remembering(typingctx, of_flags)

        def define_pipelines(self) -> list[Any]:
            manager = import_module("numba.core.compiler_machinery").PassManager("kernel")
            for whole in super().define_pipelines():
                for kind, purpose in whole.passes:
                    if kind._name not in _NEEDLESS:
                        manager.add_pass(kind, purpose)
            manager.finalize()
            return [manager]

        def compile_extra(self, func: Any) -> Any:
            if self.state.library is None:
                self.state.library = Whole(self.state.targetctx.codegen(), func.__qualname__)
                self.state.library.enable_object_caching()
            was_enabled = gc.isenabled()
            gc.disable()
            try:
                return super().compile_extra(func)
            finally:
                if was_enabled:
                    gc.enable()

    class Inner(Entry):
        def compile_extra(self, func: Any) -> Any:
            self.state.library = Part(self.state.targetctx.codegen(), func.__qualname__)
            return super().compile_extra(func)

    return Entry, Inner



def _vector_width() -> int:
    """Bits of the vectors to ask for; 0 leaves it to LLVM, which keeps to 256 for the sake of older machines.

    Those ran slower while they used 512. The first without that fault are also the first with these instructions.
    """
    features = import_module("llvmlite.binding").get_host_cpu_features()
    return 512 if features.get("avx512vbmi2", False) else 0
