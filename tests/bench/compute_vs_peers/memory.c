/* memory read|write|chase BYTES: MB/s of the best of 10 passes over an area, or ns of a load that depends on the one before. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static uint64_t *area(size_t bytes, int huge) {
    size_t page = (size_t)2 << 20;
    char *base = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) exit(1);
    if (huge) madvise(base, bytes + page, MADV_HUGEPAGE);
    return (uint64_t *)(((uintptr_t)base + page - 1) & ~(page - 1));
}

static void chase(size_t bytes) {
    size_t nodes = bytes / 64;
    uint64_t *words = area(bytes, 1), state = 88172645463325252ull;
    for (size_t i = 0; i < nodes; i++) words[8 * i] = 8 * i;
    for (size_t i = nodes - 1; i > 0; i--) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        size_t j = state % i;
        uint64_t swap = words[8 * i];
        words[8 * i] = words[8 * j];
        words[8 * j] = swap;
    }
    size_t rounds = (1 << 24) / nodes + 1;
    uint64_t at = 0;
    double start = omp_get_wtime();
    for (size_t left = rounds * nodes; left > 0; left--) at = words[at];
    double took = omp_get_wtime() - start;
    if (at != 0) exit(1);
    printf("%.4f\n", took * 1e9 / (rounds * nodes));
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    size_t bytes = strtoull(argv[2], NULL, 10), n = bytes / 8;
    if (!strcmp(argv[1], "chase")) return chase(bytes), 0;
    int writes = !strcmp(argv[1], "write");
    uint64_t *words = area(bytes, 0);
    double best = 1e30;
#pragma omp parallel for
    for (size_t i = 0; i < n; i++) words[i] = i;
    for (uint64_t pass = 0; pass < 11; pass++) {
        uint64_t sum = 0;
        double start = omp_get_wtime();
        if (writes) {
#pragma omp parallel for
            for (size_t i = 0; i < n; i++) words[i] = pass * 0x0123456789abcdefull;
        } else {
#pragma omp parallel for reduction(+ : sum)
            for (size_t i = 0; i < n; i++) sum += words[i];
            if (sum != (uint64_t)n * (n - 1) / 2) return 1;
        }
        double took = omp_get_wtime() - start;
        if (pass > 0 && took < best) best = took;
    }
    printf("%.3f\n", bytes / best / 1e6);
    return words[n / 2] == 1;
}
