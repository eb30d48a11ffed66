/* Nothing of its own: fake_rdma.c has all. */
extern int fake_ibverbs;
int fake_ibverbs;
