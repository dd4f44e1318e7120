r"""Feature transfer: a source takes over the decoupled features of a target and keeps what it is otherwise.

Three steps. The decoupled features of the target are measured, the source is normalized through all M levels, and the
values of the target are imposed on it in reverse order:

.. math:: v = \hat f(y), \qquad z = N_M(x), \qquad x' = D(z, v) \quad\text{with}\quad \hat f(x') = v,\; N_M(x') = z

What is kept of the source is z, its fully normalized sample: the kernel of the features. (Level M - 1 is not kept:
imposing the last value moves it.) What levels are normalized to is the reference of the plan, as everywhere: white
noise, unless another was given to `decouple`. The features that the target and the result then share are the decoupled
ones. With the target's own features as reference these are shared, and the decoupled ones mostly are not.

Colour images go channel by channel, or in an opponent colour space, an orthogonal change of the three channels into
their sum and two differences.

All of it goes in the small steps of `Plan.normalize`, the features too: those of the result are the wanted ones, and
its kernel that of the source, to 1e-10 and mostly to 1e-11 (thirteen of fourteen pairs of photographs and textures of
256 x 256 pixels, a dozen levels). Where rounding the pixels moves the normalized sample farther, so far it is.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from symdecouple.decoupling.carrying import Recipe
from symdecouple.decoupling.colour_channels import Colour, Layout
from symdecouple.decoupling.progress import Progress, Tell, reported
from symdecouple.decoupling.running import answered, batch_of
from symdecouple.decoupling.transferred import Transferred
from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.samples.batch import Answer, OnRefusal, as_rows
from symdecouple.numeric.samples.intake import check_choice
from symdecouple.numeric.samples.matrix import row_scales
from symdecouple.numeric.samples.vectors import Batch, SampleAxis

__all__ = ["Match", "transfer"]

Match: TypeAlias = Literal["decoupled", "own"]

_APART = 1e-6  # from where on a result is none


def transfer(plan: Any, source: Any, target: Any, *, axis: SampleAxis = "last", channel_axis: int | None = None,
             colour: Colour = "channels", match: Match = "decoupled", on_refusal: OnRefusal = "warn",
             progress: Progress | None = None) -> Any:
    """Return the source with the decoupled features of the target.

    Parameters
    ----------
    plan : Plan
        With a reference for every feature, the last one included: `Plan.transfer` is this function.
    source, target : array_like
        Samples, on grids of any sizes; one target for all sources, or as many as these.
    axis : int, tuple of int or None, optional
        The sample axes, as in `Plan.transform`.
    channel_axis : int, optional
        The axis of colours. Each channel is a sample of its own, all of its pixels; with `axis`, these of its axes are,
        counted in the whole array, and the others make a batch.
    colour : {"channels", "opponent"}
        Transfer channel by channel, or in the opponent space of three channels.
    match : {"decoupled", "own"}
        With "own", the features that the target has itself, by `Plan.match` from the source; the kernel is kept where
        the flows of the levels have one orbit (three moments, energies), and else only nearly.
    on_refusal : {"warn", "raise", "return"}
        As in `Plan.transform`.
    progress : callable or True, optional
        As in `Plan.transform`; each sample counts five times, for what is measured, normalized and checked.

    Returns
    -------
    Transferred
        With ``on_refusal="return"``: and the outcomes.

    Raises
    ------
    InvalidInput
        If target and source do not fit each other.
    Refused
        If a target itself has no decoupled features; with ``on_refusal="return"`` only the sources it is for.

    Examples
    --------
    >>> from symdecouple.decoupling.plan import decouple
    >>> from symdecouple.families.moments import raw_moments
    >>> done = decouple(raw_moments(3)).transfer([1.0, 2, 3, 5, 8, 13], [4.0, 6, 7, 9])
    >>> done.values.mean().round(12).item(), done.values.var().round(12).item()
    (6.5, 3.25)
    >>> bool(done.kernel_gap < 1e-12)
    True
    """
    check_choice("match", match, get_args(Match))
    check_choice("colour", colour, get_args(Colour))
    check_choice("on_refusal", on_refusal, get_args(OnRefusal))
    if colour == "opponent" and channel_axis is None:
        raise InvalidInput('colour="opponent" needs channel_axis, the axis of the three channels')
    features, choice, is_own = plan.features, plan.choice, match == "own"
    recipe = Recipe(len(features), choice.leading, choice.energies, tuple(choice.floats), is_own)
    layout = Layout(axis, channel_axis, colour, features.filter_ndim)
    (images, axis), (targets, axis_of_target) = layout.taken(source, "source"), layout.taken(target, "target")
    if channel_axis is not None and len(images) != len(targets):
        raise InvalidInput(f"the source has {len(images)} channels, the target {len(targets)}; convert one of them")
    with reported(progress, "transfer", "steps") as tell:
        count, is_returned = recipe.size, on_refusal == "return"
        given: dict[str, Any] = {"axis": axis, "on_refusal": "return"}
        values_of, names = (plan.own_values, features.names) if is_own else (partial(_fine_values, plan), plan.names)
        batch = Batch.of("transfer", images, axis, False, features.filter_ndim)
        rows = len(batch.rows)

        def stage(n: int) -> Tell | None:
            """What tells of call n of five, on so many samples or others, as a fifth of the whole."""
            return tell and (lambda done, total: tell(n * rows + rows * done // max(total, 1), 5 * rows))

        found = values_of(targets, axis=axis_of_target, on_refusal="return" if is_returned else "raise",
                          progress=stage(0))
        wanted, lacking = found if is_returned else (found, ())
        if channel_axis is not None:  # one image for all of a batch: its channels are those of each
            more = (1,) * (len(batch.shape) + 1 - wanted.ndim)
            wanted = wanted.reshape(wanted.shape[0], *more, *wanted.shape[1:])
        try:
            asked = np.broadcast_to(wanted, (*batch.shape, count))
        except ValueError as error:
            raise InvalidInput(f"sources in a batch of shape {batch.shape} take one target, or one each; the targets "
                               f"have shape {wanted.shape[:-1]}") from error
        kernel, first = plan.normalize(images, count, progress=stage(1), **given)
        values, second = plan.match(images, asked, progress=stage(2), **given) if is_own else plan.denormalize(
            kernel, asked, count, progress=stage(2), **given)
        achieved, _ = values_of(values, progress=stage(3), **given)
        again, _ = plan.normalize(values, count, progress=stage(4), **given)
    refusals = {i: one if not (one.ok or is_own) else two for i, (one, two) in enumerate(
        zip(first, second, strict=True)) if not ((one.ok or is_own) and two.ok)}
    if lacking:  # of targets, at the sources they are for
        each = np.broadcast_to(np.array(lacking, dtype=object).reshape(wanted.shape[:-1]), batch.shape).flat
        refusals |= {i: replace(one, detail=f"the target: {one.detail}") for i, one in enumerate(each) if not one.ok}
    gap = np.abs(again - kernel).max(axis=batch.axes, initial=0.0)
    if kernel.size:
        gap = gap / row_scales(as_rows(kernel, batch.axes)).reshape(batch.shape)
    apart = (np.abs(achieved - asked) / (1 + np.abs(asked))).max(axis=-1)
    apart = apart if is_own else np.maximum(apart, gap)
    lost = {i: Outcome(False, "lost on the way", f"the result is {apart.flat[i]:.1e} away from the features that were "
                       "asked for, or from the kernel of the source; take units, or a reference, nearer to both "
                       "samples") for i in np.flatnonzero(~(apart <= _APART)).tolist()}
    refusals = lost | refusals
    refused = np.isin(np.arange(apart.size), list(refusals)).reshape(batch.shape)
    values = np.where(np.expand_dims(refused, batch.axes), np.nan, values)
    perturbed = {i: one for i, one in enumerate(first) if one.reason and i not in refusals}
    answer = Answer("transfer", batch.shape, refusals, frames=4, notes=perturbed, hint=batch.hint)
    return answer.deliver(Transferred(layout.back(values), names, asked, achieved, gap, answer.outcomes(), source,
                                      target, layout, recipe), on_refusal)


def _fine_values(plan: Any, samples: Any, *, axis: SampleAxis, on_refusal: OnRefusal, progress: Progress | None) -> Any:
    """`transform` in the small steps of `normalize`: values to 1e-12 where dozens of features leave it 1e-9."""
    batch = batch_of(plan.choice, "transform", samples, axis, None)
    return answered(plan, batch, (len(plan.features),), None, on_refusal, lambda levels, rows, refs, _: (
        plan._application.on(batch.grid).decoupled(levels, rows, refs, is_fine=True)), None, progress)
