"""Threads over blocks: the one place where Mercer runs in parallel.

Compiled loops and BLAS release the GIL, so plain threads use all cores. The threads live for one call, or, within
`crew_kept`, until its end (a pool kept for longer would hang across a fork). BLAS is held to one thread meanwhile,
and the number of threads is what BLAS may use: whoever limits BLAS (threadpoolctl, OMP_NUM_THREADS, joblib's workers)
limits Mercer too. Where somebody else hands out the cores, as a cluster does, `threads_given` says how many there are.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from functools import cache, partial
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias, TypeVar

from .limits import check_limits, ctrl_c_held

GLANCE = 0.05  # seconds between two looks of who waits

Task = TypeVar("Task")
Result = TypeVar("Result")


def _blas() -> Any:
    """The BLAS libraries of this process: NumPy's, and SciPy's, which may be loaded later."""
    return _scanned("scipy.linalg._fblas" in sys.modules)


@cache
def _scanned(with_scipy: bool) -> Any:
    """What is loaded: a scan that is done once for each."""
    import numpy  # noqa: F401  its BLAS must be loaded before the scan
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def blas_libraries() -> list[dict[str, Any]]:
    """What is known of the BLAS libraries of this process."""
    found: list[dict[str, Any]] = _blas().info()
    return found


def cores() -> int:
    """The number of cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_given: ContextVar[int | None] = ContextVar("threads given", default=None)


@contextmanager
def threads_given(number: int) -> Iterator[None]:
    """A context in which Mercer has so many threads, whatever BLAS may use."""
    token = _given.set(max(1, number))
    try:
        yield
    finally:
        _given.reset(token)


def thread_count() -> int:
    """How many threads Mercer may use now: one, inside a task."""
    if _place.in_task:
        return 1
    given = _given.get()
    if given is not None:
        return given
    if _held.inside:
        return _held.threads_before
    limits = [library.num_threads for library in _blas().lib_controllers]
    if not limits:  # a BLAS that cannot be asked, such as Accelerate
        limits = [int(text) for text in [os.environ.get("OMP_NUM_THREADS", "")] if text.isdigit()]
    return int(max(1, min([cores(), *limits])))


class _Place(threading.local):
    """Where a thread is: at work on a task of `for_each`, or not; and the helpers that it keeps."""

    in_task = False
    crew: _Crew | None = None


_place = _Place()


@dataclass(eq=False)
class _Held:
    """Who holds BLAS to one thread; the last one out restores what the first one found."""

    lock: Any = field(default_factory=threading.Lock)
    inside: int = 0
    threads_before: int = 1
    before: list[tuple[Any, int]] = field(default_factory=list)  # each library, and its threads


_held = _Held()


def _after_fork() -> None:
    """In a child: its parent's threads are gone, and a lock that one of them held must not stay shut."""
    global _held
    _held.lock = threading.Lock()
    for library, threads in _held.before if _held.inside else ():
        library.set_num_threads(threads)
    _held = _Held()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context in which each BLAS call stays in the thread that made it."""
    held, entered = _held, False
    try:
        with ctrl_c_held(), held.lock:  # in the middle, it would leave BLAS with one thread for good
            if held.inside == 0:
                held.threads_before = thread_count()
                held.before = [(library, library.num_threads) for library in _blas().lib_controllers]
                for library, _ in held.before:  # by hand: threadpoolctl's own context takes a tenth of a millisecond
                    library.set_num_threads(1)
            held.inside += 1
            entered = True
        yield
    finally:
        if entered:
            with ctrl_c_held(), held.lock:
                held.inside -= 1
                for library, threads in held.before if held.inside == 0 else ():
                    library.set_num_threads(threads)


@dataclass(eq=False)
class _Job:
    """Something that whoever has time joins in, until it is closed."""

    work: Callable[[], None]
    lock: Any = field(default_factory=threading.Lock)
    inside: int = 0
    closed: bool = False


_Jobs: TypeAlias = "SimpleQueue[tuple[_Job, Context] | None]"


@dataclass(eq=False)
class _Crew:
    """Threads that wait for work. Each is told by a queue of its own: there is no faster way to wake it up.

    Who wakes up late finds the job closed: nobody waits for a helper that has not begun, and so nobody waits for ever,
    whenever Ctrl-C comes. What is put into `finished` only wakes up who waits, so that no count can be confused.
    """

    process: int = field(default_factory=os.getpid)
    jobs: list[_Jobs] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)
    finished: SimpleQueue[None] = field(default_factory=SimpleQueue)

    def ready(self, number: int) -> list[_Jobs]:
        """The queues of so many helpers."""
        while len(self.jobs) < number:
            jobs: _Jobs = SimpleQueue()
            thread = threading.Thread(target=self._serve, args=(jobs,), daemon=True)
            thread.start()
            self.threads.append(thread)
            self.jobs.append(jobs)
        return self.jobs[:number]

    def _serve(self, jobs: _Jobs) -> None:
        """Join in one job after the other, in the caller's context, such as NumPy's error state; None ends it."""
        while (told := jobs.get()) is not None:
            job, context = told
            with job.lock:
                if job.closed:
                    continue
                job.inside += 1
            try:
                context.run(job.work)
            finally:
                with job.lock:
                    job.inside -= 1
            self.finished.put(None)


@contextmanager
def crew_kept() -> Iterator[None]:
    """A context in which the threads of `for_each` wait for its next call in this thread."""
    if _place.crew is not None and _place.crew.process == os.getpid():
        yield
        return
    _place.crew = crew = _Crew()
    try:
        yield
    finally:
        _place.crew = None
        if crew.process == os.getpid():  # a child of a fork has none
            for jobs in crew.jobs:
                jobs.put(None)
            for thread in crew.threads:
                thread.join()


def for_each(tasks: Iterable[Task], work: Callable[[Task], Any], threads: int) -> None:
    """Run `work` on every task, on so many threads; the first error (or Ctrl-C, or the deadline) stops the rest and is
    raised.
    """
    tasks = list(tasks)
    threads = min(threads, len(tasks))
    if threads <= 1:
        for task in tasks:
            check_limits()
            work(task)
        return
    if _place.crew is None or _place.crew.process != os.getpid() or not _held.inside:
        with one_blas_thread(), crew_kept():
            for_each(tasks, work, threads)
        return
    left = iter(tasks)  # each is taken by one thread: `next` of a list is a single operation
    errors: list[BaseException] = []

    def worker() -> None:
        before, _place.in_task = _place.in_task, True
        try:
            for task in left:
                check_limits()
                work(task)
                if errors:
                    return
        except BaseException as error:
            errors.append(error)
        finally:
            _place.in_task = before

    crew, job = _place.crew, _Job(worker)
    try:
        for jobs in crew.ready(threads - 1):
            jobs.put((job, copy_context()))
        worker()
    except BaseException as error:  # Ctrl-C between two tasks
        errors.append(error)
    with job.lock:
        job.closed = True
    while job.inside:
        try:
            crew.finished.get()
        except BaseException as error:  # Ctrl-C: the helpers end with what they are at
            errors.append(error)
    del job.work  # helpers remember the job while they wait for another, but nothing that it worked on
    if errors:
        raise errors[0]


class Together:
    """Tasks that several threads need done: each takes some of them, and waits for those that others have taken."""

    def __init__(self, tasks: Iterable[Any]) -> None:
        tasks = list(tasks)
        self.left, self.open = iter(tasks), len(tasks)
        self.errors: list[BaseException] = []
        self.changed = threading.Condition()

    def share(self, work: Callable[[Any], Any]) -> None:
        """Come back when all tasks are done; an error of any of them is raised by all."""
        for task in self.left:  # each is taken by one thread
            try:
                check_limits()
                work(task)
            except BaseException as error:
                self.errors.append(error)
                raise
            finally:
                with self.changed:
                    self.open -= 1
                    self.changed.notify_all()
        with self.changed:
            while self.open:
                self.changed.wait(GLANCE)
                check_limits()
        if self.errors:
            raise self.errors[0]


def in_order(tasks: Iterable[Task], work: Callable[[Task], Result], threads: int) -> list[Result]:
    """What `work` gives for every task, in the order of the tasks: sums of it have the same bits every time."""
    tasks = list(tasks)
    found: dict[int, Result] = {}
    for_each(range(len(tasks)), lambda number: found.__setitem__(number, work(tasks[number])), threads)
    return [found[number] for number in range(len(tasks))]


def shares(n: int, number: int) -> list[slice]:
    """n rows, cut into so many pieces of nearly one size."""
    return [slice(n * k // number, n * (k + 1) // number) for k in range(number)]


def apart(work: Callable[[], Result]) -> Result:
    """What `work` gives, by a thread of its own while this one waits: LAPACK hears no Ctrl-C, but who waits does, and
    looks at the clock.

    The work itself then goes on to its end, unheard.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    done: SimpleQueue[Callable[[], Result]] = SimpleQueue()

    def run() -> None:
        try:
            found = work()
            done.put(lambda: found)
        except BaseException as error:
            done.put(partial(_raise, error))

    threading.Thread(target=copy_context().run, args=(run,), daemon=True).start()
    while True:
        try:
            result = done.get(timeout=GLANCE)
        except Empty:
            check_limits()
        else:
            return result()


def eigh(K: Any) -> tuple[Any, Any]:
    """The eigenvalues and eigenvectors of a symmetric matrix, `apart` and by one BLAS thread.

    By NumPy: SciPy's holds the GIL, so that Ctrl-C would wait for it. Of 2,000 points one thread takes 1.3 s, and two
    have taken 5 to 20 s on a virtual machine with 2 cores.
    """
    from numpy.linalg import eigh as decomposed

    with one_blas_thread():
        found = apart(lambda: decomposed(K))
    return found.eigenvalues, found.eigenvectors


def _raise(error: BaseException) -> Any:
    raise error
