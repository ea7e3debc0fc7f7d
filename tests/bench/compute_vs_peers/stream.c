/* The four loops of STREAM over arrays of N doubles: best of the passes after the first, in MB/s. */
#include <float.h>
#include <omp.h>
#include <stdio.h>

#define PASSES 10

static double a[N], b[N], c[N];

int main(void) {
    const double scalar = 3.0;
    double best[4] = {DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX};
    const double bytes[4] = {16, 16, 24, 24};
#pragma omp parallel for
    for (long i = 0; i < N; i++) {
        a[i] = 1.0;
        b[i] = 2.0;
        c[i] = 0.0;
    }
    for (int pass = 0; pass < PASSES; pass++) {
        double at[5];
        at[0] = omp_get_wtime();
#pragma omp parallel for
        for (long i = 0; i < N; i++) c[i] = a[i];
        at[1] = omp_get_wtime();
#pragma omp parallel for
        for (long i = 0; i < N; i++) b[i] = scalar * c[i];
        at[2] = omp_get_wtime();
#pragma omp parallel for
        for (long i = 0; i < N; i++) c[i] = a[i] + b[i];
        at[3] = omp_get_wtime();
#pragma omp parallel for
        for (long i = 0; i < N; i++) a[i] = b[i] + scalar * c[i];
        at[4] = omp_get_wtime();
        for (int op = 0; op < 4 && pass > 0; op++)
            if (at[op + 1] - at[op] < best[op]) best[op] = at[op + 1] - at[op];
    }
    double ea = 1.0, eb = 2.0, ec = 0.0;
    for (int pass = 0; pass < PASSES; pass++) {
        ec = ea;
        eb = scalar * ec;
        ec = ea + eb;
        ea = eb + scalar * ec;
    }
    for (long i = 0; i < N; i++)
        if (a[i] != ea || b[i] != eb || c[i] != ec) return 1;
    for (int op = 0; op < 4; op++) printf("%.3f ", bytes[op] * N / best[op] / 1e6);
    return 0;
}
