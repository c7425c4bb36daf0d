"""Threads over blocks: the one place where Mercer runs in parallel.

Compiled loops and BLAS release the GIL, so plain threads use all cores. The threads live for one call, or, within
`helpers_kept`, until its end (a pool kept for longer would hang across a fork). BLAS is held to one thread meanwhile,
and the number of threads is what BLAS may use: whoever limits BLAS (threadpoolctl, OMP_NUM_THREADS, joblib's workers)
limits Mercer too.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache, partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from .deadline import look
from .interrupt import ctrl_c_held

_GLANCE = 0.05  # seconds between two looks of who waits

Task = TypeVar("Task")
Result = TypeVar("Result")


@cache
def _blas() -> Any:
    """The BLAS libraries of this process (a scan of what is loaded: done once)."""
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


def thread_count() -> int:
    """How many threads Mercer may use now: one, inside a task."""
    if _place.in_task:
        return 1
    if _one_blas_thread.inside:
        return _one_blas_thread.threads_before
    limits = [library.num_threads for library in _blas().lib_controllers]
    if not limits:  # a BLAS that cannot be asked, such as Accelerate
        limits = [int(text) for text in [os.environ.get("OMP_NUM_THREADS", "")] if text.isdigit()]
    return int(max(1, min([cores(), *limits])))


class _Place(threading.local):
    """Where a thread is: at work on a task of `for_each`, or not; and the helpers that it keeps."""

    in_task = False
    crew: _Crew | None = None


_place = _Place()


class _OneBlasThread:
    """Holds BLAS to one thread while anybody is inside; the last one out restores what the first one found."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        self.threads_before = 1
        self.before: list[int] = []  # the threads of each library

    def enter(self) -> None:
        with self.lock:
            if self.inside == 0:
                self.threads_before = thread_count()
                self.before = [library.num_threads for library in _blas().lib_controllers]
                self._set([1] * len(self.before))
            self.inside += 1

    def leave(self) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0:
                self._set(self.before)

    def after_fork(self) -> None:
        """In a child: its parent's threads are gone, and a lock that one of them held must not stay shut."""
        if self.inside:
            self._set(self.before)
        self.__init__()  # type: ignore[misc]

    def _set(self, threads: list[int]) -> None:
        """So many for each library; by hand, because threadpoolctl's own context takes a tenth of a millisecond."""
        for library, number in zip(_blas().lib_controllers, threads, strict=True):
            library.set_num_threads(number)


_one_blas_thread = _OneBlasThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_one_blas_thread.after_fork)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context in which each BLAS call stays in the thread that made it."""
    entered = False
    try:
        with ctrl_c_held():  # between the two lines, it would leave BLAS with one thread for good
            _one_blas_thread.enter()
            entered = True
        yield
    finally:
        if entered:
            with ctrl_c_held():
                _one_blas_thread.leave()


class _Job:
    """Something that a helper does, once."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.work, self.done = work, False


class _Crew:
    """Threads that wait for work. Each is told by a lock of its own: there is no faster way to wake it up."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.jobs: list[SimpleQueue[_Job | None]] = []
        self.threads: list[threading.Thread] = []
        self.finished: SimpleQueue[None] = SimpleQueue()

    def call(self, number: int, job: _Job) -> None:
        """Let one of the helpers do this job."""
        if number == len(self.jobs):
            self.jobs.append(SimpleQueue())
            self.threads.append(threading.Thread(target=self._serve, args=(self.jobs[number],), daemon=True))
            self.threads[number].start()
        self.jobs[number].put(job)

    def wait(self, jobs: list[_Job]) -> None:
        """Until these are done; what is put into `finished` only wakes it up, so that Ctrl-C cannot confuse a count."""
        while not all(job.done for job in jobs):
            self.finished.get()

    def _serve(self, jobs: SimpleQueue[_Job | None]) -> None:
        while (job := jobs.get()) is not None:
            try:
                job.work()
            finally:
                job.done = True
                self.finished.put(None)

    def dismiss(self) -> None:
        """Send all of them home."""
        if self.process != os.getpid():  # a child of a fork has none
            return
        for jobs in self.jobs:
            jobs.put(None)
        for thread in self.threads:
            thread.join()


@contextmanager
def helpers_kept() -> Iterator[None]:
    """A context in which BLAS has one thread, and the threads of `for_each` wait for its next call in this thread."""
    if _place.crew is not None and _place.crew.process == os.getpid():
        yield
        return
    with one_blas_thread():
        _place.crew = crew = _Crew()
        try:
            yield
        finally:
            _place.crew = None
            crew.dismiss()


def for_each(tasks: Iterable[Task], work: Callable[[Task], None], threads: int) -> None:
    """Run `work` on every task, on so many threads; the first error (or Ctrl-C, or the deadline) stops the rest and is
    raised.
    """
    tasks = list(tasks)
    threads = min(threads, len(tasks))
    if threads <= 1:
        for task in tasks:
            look()
            work(task)
        return
    queue = iter(tasks)
    lock = threading.Lock()
    errors: list[BaseException] = []

    def worker() -> None:
        before, _place.in_task = _place.in_task, True
        try:
            work_on_tasks()
        except BaseException as error:
            errors.append(error)
        finally:
            _place.in_task = before

    def work_on_tasks() -> None:
        while not errors:
            with lock:
                task = next(queue, queue)
            if task is queue:  # no task is the queue itself: nothing is left
                return
            look()
            work(task)  # type: ignore[arg-type]

    # Each helper sees the caller's context, such as NumPy's error state.
    jobs = [_Job(partial(copy_context().run, worker)) for _ in range(threads - 1)]
    with helpers_kept():
        crew = _place.crew
        assert crew is not None
        try:
            with ctrl_c_held():
                for number, job in enumerate(jobs):
                    crew.call(number, job)
            worker()
        except BaseException as error:  # Ctrl-C between two tasks
            errors.append(error)
        while not all(job.done for job in jobs):
            try:
                crew.wait(jobs)
            except BaseException as error:  # Ctrl-C: the helpers end with what they are at
                errors.append(error)
    if errors:
        raise errors[0]


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
            result = done.get(timeout=_GLANCE)
        except Empty:
            look()
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
