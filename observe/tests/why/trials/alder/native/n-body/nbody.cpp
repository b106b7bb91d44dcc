// Direct n-body simulation: two threads, half of the bodies each, a barrier per step.
#include <pthread.h>
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

struct Body { double x, y, z, vx, vy, vz, m; };
static const int N = 3000;
static std::vector<Body> bodies(N);
static pthread_barrier_t step_end;
static volatile long steps;

static void accelerate(int from, int to) {
  for (int i = from; i < to; i++) {
    double ax = 0, ay = 0, az = 0;
    for (int j = 0; j < N; j++) {
      double dx = bodies[j].x - bodies[i].x, dy = bodies[j].y - bodies[i].y, dz = bodies[j].z - bodies[i].z;
      double d = dx * dx + dy * dy + dz * dz + 0.01, f = bodies[j].m / (d * std::sqrt(d));
      ax += dx * f;
      ay += dy * f;
      az += dz * f;
    }
    bodies[i].vx += ax * 1e-3;
    bodies[i].vy += ay * 1e-3;
    bodies[i].vz += az * 1e-3;
  }
}

static void worker(int from, int to) {
  for (;;) {
    accelerate(from, to);
    pthread_barrier_wait(&step_end);
    for (int i = from; i < to; i++) {
      bodies[i].x += bodies[i].vx * 1e-3;
      bodies[i].y += bodies[i].vy * 1e-3;
      bodies[i].z += bodies[i].vz * 1e-3;
    }
    if (pthread_barrier_wait(&step_end) == PTHREAD_BARRIER_SERIAL_THREAD) {
      steps = steps + 1;
      printf("done %ld\n", steps);
      fflush(stdout);
    }
  }
}

int main() {
  for (int i = 0; i < N; i++) bodies[i] = {sin(i * 1.1) * i, cos(i * 2.3) * i, sin(i * 0.7) * i, 0, 0, 0, 1.0 + i % 3};
  pthread_barrier_init(&step_end, 0, 2);
  std::thread other(worker, 0, N / 2);
  worker(N / 2, N);
}
