#define _GNU_SOURCE
#include "CRelayShims.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// ThreadSanitizer takes every clone(2) for a fork, and does not survive one that shares memory. The library's own name is left alone.
// At _exit(2) it would end its own work, in the parent's memory.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
extern int __clone(int (*body)(void *), void *stack, int flags, void *argument, ...);
#define clone __clone
#define _exit(code) syscall(SYS_exit_group, code)
#endif
#endif

struct request {
    const char *path;
    char *const *argv;
    char *const *envp;
    const int *keep;
    int count;
    void (*exited)(void *, int);
    void *context;
    pid_t result;
    sem_t started;
};

struct birth {
    const struct request *request;
    pid_t parent;
    // Set by the child, which shares our memory until it executes the program.
    int failed;
};

// The child's side, up to execve. It runs in the memory of a threaded process: only async-signal-safe calls are allowed.
static int become(void *argument) {
    struct birth *birth = argument;
    const struct request *request = birth->request;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    // Ctrl-C in a terminal is for the parent, which ends its children in its own order.
    setpgid(0, 0);
    if (getppid() != birth->parent) _exit(127);
    // First the handlers, then the mask: a signal that waits must not run a handler of the parent's here.
    for (int signal = 1; signal < NSIG; signal++) {
        struct sigaction action = {.sa_handler = SIG_DFL};
        if (signal != SIGKILL && signal != SIGSTOP) sigaction(signal, &action, NULL);
    }
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    // Also those of other libraries, which forgot O_CLOEXEC. Kernels before 5.11 cannot: the first thousand then.
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0) {
        for (int descriptor = 3; descriptor < 1024; descriptor++) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    }
    // Twice, over numbers that no pair names, so that one pair's target cannot be another's source.
    int lowest = 64;
    for (int i = 0; i < request->count; i++) {
        if (request->keep[2 * i + 1] >= lowest) lowest = request->keep[2 * i + 1] + 1;
    }
    int moved[16];
    int failed = request->count > 16 ? EINVAL : 0;
    for (int i = 0; i < request->count && !failed; i++) {
        moved[i] = fcntl(request->keep[2 * i], F_DUPFD_CLOEXEC, lowest);
        if (moved[i] < 0) failed = errno;
    }
    for (int i = 0; i < request->count && !failed; i++) {
        if (dup2(moved[i], request->keep[2 * i + 1]) < 0) failed = errno;
    }
    if (!failed) {
        execve(request->path, request->argv, request->envp);
        failed = errno;
    }
    birth->failed = failed;
    _exit(127);
}

static void *keeper(void *argument) {
    struct request *request = argument;
    void (*exited)(void *, int) = request->exited;
    void *context = request->context;
    struct birth birth = {request, getpid(), 0};
    // As posix_spawn(3) does it: this thread waits until the child has its own program, and no page table is copied. fork(2)
    // would copy that of the whole process, which takes tens of milliseconds in a large one.
    _Alignas(16) char stack[64 << 10];
    pid_t child = clone(become, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &birth);
    int failed = child < 0 ? errno : birth.failed;
    request->result = failed ? -failed : child;
    sem_post(&request->started);  // `request` belongs to the caller again.
    if (child <= 0) return NULL;
    // Told before it is reaped: from then on its number may be another's.
    // A process that ignores SIGCHLD, or reaps what is not its own, takes the status from us: -1.
    siginfo_t info = {0};
    int waited;
    do waited = waitid(P_PID, child, &info, WEXITED | WNOWAIT);
    while (waited != 0 && errno == EINTR);
    int code = waited != 0 ? -1 : info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status & 0x7f;
    if (!failed && exited) exited(context, code);
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return NULL;
}

pid_t relay_spawn_bound(const char *path, char *const argv[], char *const envp[], const int *keep, int count,
                        void (*exited)(void *context, int status), void *context) {
    struct request request = {path, argv, envp, keep, count, exited, context, 0};
    sem_init(&request.started, 0, 0);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // No signal is handled on the keeper's thread.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int failed = pthread_create(&thread, &attributes, keeper, &request);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (failed) {
        sem_destroy(&request.started);
        return -failed;
    }
    while (sem_wait(&request.started) != 0) {}
    sem_destroy(&request.started);
    return request.result;
}

int relay_pipe(int *reading, int *writing) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    *reading = ends[0];
    *writing = ends[1];
    return 0;
}
