# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the host, or a copy or fill of another stream, does to an array of a kernel
before and after the launch: waited for, or weakly not."""
from dataclasses import dataclass

from dice import Dice

STREAMS = """\
// Streams that wait for each other only when they are told to, and not for the
// default stream, whose work is done.
struct Streams {
  cudaStream_t Own, Other;
  cudaEvent_t Done;
  Streams() {
    check(cudaStreamCreateWithFlags(&Own, cudaStreamNonBlocking));
    check(cudaStreamCreateWithFlags(&Other, cudaStreamNonBlocking));
    check(cudaEventCreateWithFlags(&Done, cudaEventDisableTiming));
    check(cudaDeviceSynchronize());
  }
  Streams(const Streams &) = delete;
  ~Streams() {
    check(cudaDeviceSynchronize());
    check(cudaEventDestroy(Done));
    check(cudaStreamDestroy(Own));
    check(cudaStreamDestroy(Other));
  }
  // What is put into To from now on waits for what is in From.
  void order(cudaStream_t From, cudaStream_t To) {
    check(cudaEventRecord(Done, From));
    check(cudaStreamWaitEvent(To, Done, 0));
  }
};
"""


@dataclass
class Agent:
    """Lines of the host function around the launch."""
    array: object
    is_managed: bool  # The host touches the array.
    before: list
    after: list
    declared: list    # Buffers besides those of the kernel's arrays.
    hashes: list      # Values that are part of the result.


def length_of(k, a):
    return a.length * (k.blocks if a.space == "global" else 1)


def operations(k, a, dice):
    """What a stream does to the array: (line, buffers, values)."""
    size = f"{length_of(k, a)} * sizeof({a.element})"
    copy = k.local("Copy")
    buffer = [f"Buffer<{a.element}> {copy}({length_of(k, a)});"]
    return dice.pick([
        (f"check(cudaMemsetAsync({a.name}.Data, {dice.below(256)}, {size}, S.Other));", [], []),
        (f"check(cudaMemcpyAsync({copy}.Data, {a.name}.Data, {size}, cudaMemcpyDeviceToDevice, S.Other));",
         buffer, [f"{copy}.hash()"]),
        (f"check(cudaMemcpyAsync({a.name}.Data, {copy}.Data, {size}, cudaMemcpyDeviceToDevice, S.Other));",
         buffer, [])])


def of_stream(k, a, dice):
    """A copy or a fill in another stream."""
    line, buffers, values = operations(k, a, dice)
    if dice.percent(50):
        order = [] if k.weak(5) else ["S.order(S.Other, S.Own);"]
        return Agent(a, False, [line, *order], [], buffers, values)
    order = [] if k.weak(5) else ["S.order(S.Own, S.Other);"]
    return Agent(a, False, [], [*order, line], buffers, values)


def of_host(k, a, dice):
    """The host reads or writes one byte of the array, whatever its elements are."""
    byte = f"((unsigned char *){a.name}.Data)[{dice.below(length_of(k, a))}]"
    if dice.percent(25):
        return Agent(a, True, [f"{byte} = {dice.below(256)};"], [], [], [])
    wait = [] if k.weak(5) else [dice.pick([
        "check(cudaStreamSynchronize(S.Own));", "check(cudaDeviceSynchronize());",
        "check(cudaEventRecord(S.Done, S.Own)); check(cudaEventSynchronize(S.Done));"])]
    if dice.percent(50):
        return Agent(a, True, [], [*wait, f"{byte} = {dice.below(256)};"], [], [])
    return Agent(a, True, [], [*wait, f"unsigned long long Seen = {byte};"], [], ["Seen"])


def agent_of(seed, k, arrays):
    """An agent beside the kernel, for some kernels. `arrays`: whose contents the
    kernel does not depend on to end."""
    # Dice of its own: kernels without agents stay as they were.
    dice = Dice(seed, k.number, 0xA6E47)
    arrays = [a for a in arrays if a.space in ("global", "grid")]
    if not arrays or not dice.percent(35):
        return None
    return dice.pick([of_stream, of_host])(k, dice.pick(arrays), dice)
