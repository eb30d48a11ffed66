/*
 * A queue pair whose functions print how they were called, driven by the headers' inline functions
 * through the scenarios that DcPostingTest generates into scenarios.inc.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <infiniband/verbs.h>
#include <infiniband/mlx5dv.h>

static struct ibv_qp_ex qp;
static struct mlx5dv_qp_ex direct;
static struct ibv_ah handles[2];
static int result;

static const char *name(const void *pointer)
{
	if (pointer == &qp)
		return "qp";
	if (pointer == &direct)
		return "direct";
	if (pointer == &handles[0])
		return "handle0";
	return pointer == &handles[1] ? "handle1" : "?";
}

static void start(struct ibv_qp_ex *on)
{
	printf("wr_start %s\n", name(on));
}

static void abort_chain(struct ibv_qp_ex *on)
{
	printf("wr_abort %s\n", name(on));
}

static int complete(struct ibv_qp_ex *on)
{
	printf("wr_complete %s\n", name(on));
	return result;
}

static void rdma(const char *call, struct ibv_qp_ex *on, uint32_t rkey, uint64_t remote)
{
	printf("%s %s id %" PRIx64 " flags %x rkey %x remote %" PRIx64 "\n", call, name(on),
	       on->wr_id, on->wr_flags, rkey, remote);
}

static void rdma_write(struct ibv_qp_ex *on, uint32_t rkey, uint64_t remote)
{
	rdma("wr_rdma_write", on, rkey, remote);
}

static void rdma_read(struct ibv_qp_ex *on, uint32_t rkey, uint64_t remote)
{
	rdma("wr_rdma_read", on, rkey, remote);
}

static void set_dc_addr(struct mlx5dv_qp_ex *on, struct ibv_ah *handle, uint32_t number,
			uint64_t key)
{
	printf("wr_set_dc_addr %s %s number %x key %" PRIx64 "\n", name(on), name(handle), number,
	       key);
}

static void set_sge(struct ibv_qp_ex *on, uint32_t lkey, uint64_t address, uint32_t length)
{
	printf("wr_set_sge %s lkey %x address %" PRIx64 " length %x\n", name(on), lkey, address,
	       length);
}

static void set_sge_list(struct ibv_qp_ex *on, size_t count, const struct ibv_sge *list)
{
	printf("wr_set_sge_list %s %zu\n", name(on), count);
	for (size_t i = 0; i < count; i++)
		printf("  lkey %x address %" PRIx64 " length %x\n", list[i].lkey, list[i].addr,
		       list[i].length);
}

int main(void)
{
	qp.wr_start = start;
	qp.wr_abort = abort_chain;
	qp.wr_complete = complete;
	qp.wr_rdma_write = rdma_write;
	qp.wr_rdma_read = rdma_read;
	qp.wr_set_sge = set_sge;
	qp.wr_set_sge_list = set_sge_list;
	direct.wr_set_dc_addr = set_dc_addr;
#include "scenarios.inc"
	return 0;
}
