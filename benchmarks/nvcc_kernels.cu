// Kernels that nvcc compiles for `nvcc_kernels.py`: what CUDA C++ programs use of CUB, cooperative
// groups, libcu++ and the math library.

#include <cub/cub.cuh>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/atomic>
#include <cuda/ptx>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <mma.h>
namespace cg = cooperative_groups;

extern "C" __global__ void block_reduce(const float* a, float* o) {
  using R = cub::BlockReduce<float, 128>;
  __shared__ typename R::TempStorage t;
  float v = R(t).Sum(a[blockIdx.x*128+threadIdx.x]);
  if (!threadIdx.x) o[blockIdx.x] = v;
}

extern "C" __global__ void block_scan(const int* a, int* o) {
  using S = cub::BlockScan<int, 128>;
  __shared__ typename S::TempStorage t;
  int v;
  S(t).InclusiveSum(a[blockIdx.x*128+threadIdx.x], v);
  o[blockIdx.x*128+threadIdx.x] = v;
}

extern "C" __global__ void block_sort(const unsigned* a, unsigned* o) {
  using S = cub::BlockRadixSort<unsigned, 128, 4>;
  __shared__ typename S::TempStorage t;
  unsigned v[4];
  for (int i = 0; i<4; i++) v[i] = a[threadIdx.x*4+i];
  S(t).Sort(v);
  for (int i = 0; i<4; i++) o[threadIdx.x*4+i] = v[i];
}

extern "C" __global__ void merge_sort(const int* a, int* o) {
  struct Less {
    __device__ bool operator()(int x, int y) const {
      return x<y;
    }
  };
  using S = cub::BlockMergeSort<int, 128, 4>;
  __shared__ typename S::TempStorage t;
  int v[4];
  for (int i = 0; i<4; i++) v[i] = a[threadIdx.x*4+i];
  S(t).Sort(v, Less());
  for (int i = 0; i<4; i++) o[threadIdx.x*4+i] = v[i];
}

extern "C" __global__ void block_load(const float* a, float* o) {
  using L = cub::BlockLoad<float, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  using T = cub::BlockStore<float, 128, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  __shared__ union {
    typename L::TempStorage l;
    typename T::TempStorage s;
  } t;
  float v[4];
  L(t.l).Load(a+blockIdx.x*512, v);
  __syncthreads();
  for (int i = 0; i<4; i++) v[i] = v[i]*2+i;
  T(t.s).Store(o+blockIdx.x*512, v);
}

extern "C" __global__ void histogram(const unsigned char* a, unsigned* o) {
  using H = cub::BlockHistogram<unsigned char, 128, 4, 256, cub::BLOCK_HISTO_ATOMIC>;
  __shared__ typename H::TempStorage t;
  __shared__ unsigned h[256];
  unsigned char v[4];
  for (int i = 0; i<4; i++) v[i] = a[threadIdx.x*4+i];
  H(t).Histogram(v, h);
  __syncthreads();
  for (int i = threadIdx.x; i<256; i += 128) o[i] = h[i];
}

extern "C" __global__ void warp_scan(const int* a, int* o) {
  using S = cub::WarpScan<int>;
  __shared__ typename S::TempStorage t[4];
  int v;
  S(t[threadIdx.x/32]).ExclusiveSum(a[threadIdx.x], v);
  o[threadIdx.x] = v;
}

extern "C" __global__ void cg_reduce(const int* a, int* o) {
  auto b = cg::this_thread_block();
  auto w = cg::tiled_partition<32>(b);
  auto h = cg::tiled_partition<8>(w);
  int v = a[threadIdx.x];
  o[threadIdx.x*4] = cg::reduce(w, v, cg::plus<int>());
  o[threadIdx.x*4+1] = cg::reduce(h, v, cg::greater<int>());
  o[threadIdx.x*4+2] = cg::inclusive_scan(h, v);
  auto c = cg::coalesced_threads();
  o[threadIdx.x*4+3] = c.size();
  b.sync();
}

extern "C" __global__ void cg_coalesced(int* o) {
  if (threadIdx.x%3 == 0) {
    auto g = cg::coalesced_threads();
    int p = 0;
    if (g.thread_rank() == 0) p = atomicAdd(o, g.size());
    p = g.shfl(p, 0);
    o[1+p+g.thread_rank()] = threadIdx.x;
  }
}

extern "C" __global__ void cg_memcpy(const float* a, float* o) {
  __shared__ float s[256];
  auto b = cg::this_thread_block();
  cg::memcpy_async(b, s, a+blockIdx.x*256, sizeof(float)*256);
  cg::wait(b);
  for (int i = threadIdx.x; i<256; i += 128) o[blockIdx.x*256+i] = s[255-i];
}

extern "C" __global__ void barrier_copy(const float* a, float* o) {
  __shared__ alignas(128) float s[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (!threadIdx.x) init(&bar, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(cg::this_thread_block(), s, a
      + blockIdx.x*256, cuda::aligned_size_t<16>(1024), bar);
  bar.arrive_and_wait();
  for (int i = threadIdx.x; i<256; i += 128) o[blockIdx.x*256+i] = s[255-i];
}

extern "C" __global__ void pipelined(const float* a, float* o, int n) {
  __shared__ float s[2][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> st;
  auto b = cg::this_thread_block();
  auto p = cuda::make_pipeline(b, &st);
  float acc = 0;
  int f = 0;
  for (int c = 0; c<n; c++) {
    for (; f<n && f<c+2; f++) {
      p.producer_acquire();
      cuda::memcpy_async(b, s[f%2], a+f*128, sizeof(float)*128, p);
      p.producer_commit();
    }
    p.consumer_wait();
    acc += s[c%2][127-threadIdx.x];
    p.consumer_release();
  }
  o[threadIdx.x] = acc;
}

extern "C" __global__ void bulk(const float* a, float* o) {
  namespace ptx = cuda::ptx;
  __shared__ alignas(128) float s[256];
  __shared__ uint64_t bar;
  if (!threadIdx.x) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  if (!threadIdx.x) {
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, a+blockIdx.x*256, 1024, &bar);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 1024);
  }
  while (!ptx::mbarrier_try_wait_parity(&bar, 0));
  s[threadIdx.x] *= 2;
  s[threadIdx.x+128] += 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (!threadIdx.x) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, o+blockIdx.x*256, s, 1024);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}

extern "C" __global__ void atomics(const int* a, int* o, float* f, double* d) {
  cuda::atomic_ref<int, cuda::thread_scope_device> r(o[0]);
  r.fetch_add(a[threadIdx.x], cuda::memory_order_relaxed);
  r.fetch_max(a[threadIdx.x]);
  cuda::atomic_ref<int, cuda::thread_scope_block> q(o[1]);
  q.fetch_xor(a[threadIdx.x]);
  atomicAdd(f, 1.5f);
  atomicAdd(d, 0.25);
  atomicCAS(o+2, 0, threadIdx.x+1);
  atomicExch(o+3, 7);
  atomicInc((unsigned*)o+4, 10);
  atomicAdd((__half2*)(o+5), __floats2half2_rn(1, 2));
  unsigned short* u = (unsigned short*)(o+6);
  atomicCAS(u, (unsigned short)0, (unsigned short)3);
}

struct Base {
  virtual __device__ float f(float x)const = 0;
};

struct A1:Base {
  __device__ float f(float x)const override {
    return x+1;
  }
};

struct B1:Base {
  __device__ float f(float x)const override {
    return x*3;
  }
};

extern "C" __global__ void virtuals(const float* a, float* o) {
  A1 x;
  B1 y;
  const Base* p = threadIdx.x%2?(const Base*)&x:(const Base*)&y;
  o[threadIdx.x] = p->f(a[threadIdx.x]);
}

__device__ __noinline__ int fib(int n) {
  return n<2?n:fib(n-1)+fib(n-2);
}

extern "C" __global__ void recursion(int* o) {
  o[threadIdx.x] = fib(threadIdx.x%8);
}

typedef float (*fn)(float);
__device__ __noinline__ float sq(float x) {
  return x*x;
}

__device__ __noinline__ float tw(float x) {
  return x+x;
}

__device__ fn table[2] = {sq, tw};
extern "C" __global__ void pointers(const float* a, float* o) {
  o[threadIdx.x] = table[threadIdx.x&1](a[threadIdx.x]);
}

extern "C" __global__ void math32(const float* a, float* o) {
  float x = a[threadIdx.x];
  float r = sinf(x) + cosf(x*100) + expf(x) + logf(fabsf(x)+1) + powf(fabsf(x), 1.5f) + tanhf(x)
      + erff(x) + rsqrtf(fabsf(x)+1) + fmodf(x*10, 3) + atan2f(x, 2) + cbrtf(x)
      + lgammaf(fabsf(x)+1);
  o[threadIdx.x] = r;
}

extern "C" __global__ void math64(const double* a, double* o) {
  double x = a[threadIdx.x];
  o[threadIdx.x] = sin(x) + exp(x) + log(fabs(x)+1) + pow(fabs(x), 1.5) + tanh(x) + x/3.7
      + sqrt(fabs(x)) + erf(x) + cbrt(x);
}

extern "C" __global__ void halves(const __half2* a, __half2* o, __nv_bfloat162* b, __nv_fp8_e4m3* e) {
  __half2 x = a[threadIdx.x];
  o[threadIdx.x] = __hfma2(x, x, __hmul2(x, h2exp(x)));
  b[threadIdx.x] = __floats2bfloat162_rn(__low2float(x), __high2float(x));
  e[threadIdx.x] = __nv_fp8_e4m3(__low2float(x));
}

extern "C" __global__ void int128(const long long* a, long long* o) {
  __int128 x = (__int128)a[threadIdx.x]*a[threadIdx.x]*3;
  o[2*threadIdx.x] = (long long)(x>>64);
  o[2*threadIdx.x+1] = (long long)x;
  unsigned long long d = (unsigned long long)a[threadIdx.x];
  o[2*threadIdx.x] += d/7u+d%13u;
}

extern "C" __global__ void vec128(const int4* a, int4* o) {
  __int128* p = (__int128*)o;
  const __int128* q = (const __int128*)a;
  p[threadIdx.x] = q[threadIdx.x]+1;
}

extern "C" __global__ void dp(const int* a, int* o) {
  int x = a[threadIdx.x];
  o[threadIdx.x] = __dp4a(x, x, 5) + __vadd4(x, x) + __vabsdiffu4(x, 77) + __vmaxs2(x, 3)
      + __funnelshift_l(x, 7, 3) + __popc(x) + __clz(x) + __ffs(x) + __brev(x)
      + __byte_perm(x, 99, 0x3175) + __mulhi(x, x) + __usad(x, 5, 1) + __viaddmax_s32(x, 4, 2);
}

extern "C" __global__ void votes(const int* a, int* o) {
  int x = a[threadIdx.x];
  unsigned m = __match_any_sync(~0u, x);
  int p;
  unsigned all = __match_all_sync(~0u, x, &p);
  o[threadIdx.x] = m + all + p + __ballot_sync(~0u, x>3) + __any_sync(~0u, x)
      + __reduce_add_sync(~0u, x) + __reduce_xor_sync(~0u, x) + __shfl_xor_sync(~0u, x, 5)
      + __syncthreads_count(x>2);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) clus(const int* a, int* o) {
  __shared__ int s[128];
  auto c = cg::this_cluster();
  s[threadIdx.x] = a[blockIdx.x*128+threadIdx.x];
  c.sync();
  int* r = c.map_shared_rank(s, c.block_rank()^1);
  o[blockIdx.x*128+threadIdx.x] = r[127-threadIdx.x];
  c.sync();
}

extern "C" __global__ void dynshared(const float* a, float* o) {
  extern __shared__ float s[];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = s[blockDim.x-1-threadIdx.x];
  if (!threadIdx.x) printf("%d %f %s\n", blockDim.x, s[3], "x");
  assert(s[0] == s[0]);
}

extern "C" __global__ void locals(const int* a, int* o, int n) {
  int s[64];
  for (int i = 0; i<64; i++) s[i] = i*a[i];
  int r = 0;
  for (int i = 0; i<n; i++) r += s[(a[threadIdx.x]+i*7)&63];
  o[threadIdx.x] = r;
}

extern "C" __global__ void spin(int* lock, int* o) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1));
    __threadfence();
    o[0] += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

extern "C" __global__ void lookback(const int* a, volatile int* flag, volatile int* sum, int* o) {
  __shared__ int base;
  using S = cub::BlockScan<int, 128>;
  __shared__ typename S::TempStorage t;
  int v, tot;
  S(t).InclusiveSum(a[blockIdx.x*128+threadIdx.x], v, tot);
  if (!threadIdx.x) {
    int b = 0;
    if (blockIdx.x) {
      while (!flag[blockIdx.x-1]);
      __threadfence();
      b = sum[blockIdx.x-1];
    }
    sum[blockIdx.x] = b+tot;
    __threadfence();
    flag[blockIdx.x] = 1;
    base = b;
  }
  __syncthreads();
  o[blockIdx.x*128+threadIdx.x] = v+base;
}

extern "C" __global__ void lastblock(const float* a, float* p, unsigned* c, float* o) {
  __shared__ bool last;
  using R = cub::BlockReduce<float, 128>;
  __shared__ typename R::TempStorage t;
  float v = R(t).Sum(a[blockIdx.x*128+threadIdx.x]);
  if (!threadIdx.x) {
    p[blockIdx.x] = v;
    __threadfence();
    last = atomicInc(c, gridDim.x) == gridDim.x-1;
  }
  __syncthreads();
  if (last && !threadIdx.x) {
    float s = 0;
    for (int i = 0; i<gridDim.x; i++) s += ((volatile float*) p)[i];
    *o = s;
  }
}

extern "C" __global__ void heap(int* o) {
  int* p = (int*)malloc(16);
  p[0] = threadIdx.x;
  o[threadIdx.x] = p[0];
  free(p);
}

__device__ __noinline__ int weighted(int n, const int* factor) {
  int* p = (int*)alloca(n * sizeof(int));
  for (int i = 0; i<n; i++) p[i] = i * factor[0];
  int s = 0;
  for (int i = 0; i<n; i++) s += p[n-1-i] * (i+1);
  return s;
}

extern "C" __global__ void stack(int* o, int n) {
  int s = 0;
  for (int k = 0; k<3; k++) {
    int* p = (int*)alloca((n + k + threadIdx.x) * sizeof(int));
    for (int i = 0; i<n; i++) p[i] = i + k;
    s += p[n-1] + weighted(n + k, p + 2);
  }
  o[threadIdx.x] = s + threadIdx.x;
}

extern "C" __global__ void constants(const int* a, int* o) {
  static __constant__ int c[4] = {1, 2, 3, 4};
  static __device__ int g[4] = {5, 6, 7, 8};
  o[threadIdx.x] = c[a[threadIdx.x]&3]+g[a[threadIdx.x]&3];
}

extern "C" __global__ void devclock(long long* o) {
  o[threadIdx.x] = clock64()>0;
  __nanosleep(20);
}

extern "C" __global__ void wmma_gemm(const half* a, const half* b, float* c, int n, int k) {
  __shared__ half s[16*24];
  nvcuda::wmma::fragment<nvcuda::wmma::matrix_a,16, 16, 16, half, nvcuda::wmma::row_major> fa;
  nvcuda::wmma::fragment<nvcuda::wmma::matrix_b,16, 16, 16, half, nvcuda::wmma::col_major> fb;
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator,16, 16, 16, float> fc;
  nvcuda::wmma::fill_fragment(fc, 0.0f);
  for (int i = 0; i<k; i += 16) {
    for (int j = threadIdx.x; j<256; j += 32) s[(j/16)*24+j%16] = a[(blockIdx.y*16+j/16)*k+i+j%16];
    __syncthreads();
    nvcuda::wmma::load_matrix_sync(fa, s, 24);
    nvcuda::wmma::load_matrix_sync(fb, b + (size_t)blockIdx.x*16*k + i, k);
    nvcuda::wmma::mma_sync(fc, fa, fb, fc);
    __syncthreads();
  }
  for (int i = 0; i<fc.num_elements; i++) fc.x[i]*=2.0f;
  nvcuda::wmma::store_matrix_sync(c + (size_t)blockIdx.y*16*n + blockIdx.x*16, fc, n, nvcuda::wmma::mem_row_major);
}
