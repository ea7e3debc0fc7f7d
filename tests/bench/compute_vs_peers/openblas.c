/* One call of dgesv or dgemm of order n on random matrices in huge pages; prints 10^9 operations a second of the call alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

extern void dgesv_(int *, int *, double *, int *, int *, double *, int *, int *);
extern void dgemm_(char *, char *, int *, int *, int *, double *, double *, int *, double *, int *, double *, double *, int *);
extern char *openblas_get_config(void);

static unsigned long long state;

static double *matrix(size_t values)
{
    void *start;
    if (posix_memalign(&start, 2 << 20, values * sizeof(double)))
        exit(1);
    madvise(start, values * sizeof(double), MADV_HUGEPAGE);
    double *matrix = start;
    for (size_t i = 0; i < values; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        matrix[i] = (state >> 11) / 9007199254740992.0 - 0.5;
    }
    return matrix;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Operations a second of one call. */
static double rate(const char *call, int n)
{
    int one = 1, info = 0;
    double order = n, operations, begin, unit = 1, zero = 0;
    char plain = 'N';
    double *a = matrix((size_t)n * n);
    if (!strcmp(call, "dgesv")) {
        double *b = matrix(n);
        int *pivots = calloc(n, sizeof(int));
        operations = 2.0 / 3 * order * order * order + 1.5 * order * order;
        begin = now();
        dgesv_(&n, &one, a, &n, pivots, b, &n, &info);
    } else {
        double *b = matrix((size_t)n * n), *c = matrix((size_t)n * n);
        operations = 2 * order * order * order;
        begin = now();
        dgemm_(&plain, &plain, &n, &n, &n, &unit, a, &n, b, &n, &zero, c, &n);
    }
    double seconds = now() - begin;
    if (info)
        exit(2);
    return operations / seconds;
}

int main(int count, char **words)
{
    if (count < 4) {
        puts(openblas_get_config());
        return 0;
    }
    state = 88172645463325252ULL + atoi(words[3]);
    /* Its threads and buffers are made by the first call. */
    rate(words[1], 500);
    printf("%.3f\n", rate(words[1], atoi(words[2])) / 1e9);
    return 0;
}
