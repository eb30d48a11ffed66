/*
 * What DcStructures builds, built by the headers: each structure in a section of its own name, for
 * the inputs that DcStructuresTest gives.
 */
#include <infiniband/verbs.h>
#include <infiniband/mlx5dv.h>

#define ATTRIBUTES(type, name) \
	const type name __attribute__((used, section("dc." #name)))

#define DOMAIN ((struct ibv_pd *)0x1122334455667788)
#define QUEUE ((struct ibv_cq *)0x2233445566778899)
#define RECEIVES ((struct ibv_srq *)0x33445566778899aa)

ATTRIBUTES(struct ibv_qp_init_attr_ex, initiator) = {
	.send_cq = QUEUE,
	.recv_cq = QUEUE,
	.cap = { .max_send_wr = 129, .max_send_sge = 7 },
	.qp_type = IBV_QPT_DRIVER,
	.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
	.pd = DOMAIN,
	.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ,
};

ATTRIBUTES(struct ibv_qp_init_attr_ex, target) = {
	.send_cq = QUEUE,
	.recv_cq = QUEUE,
	.srq = RECEIVES,
	.qp_type = IBV_QPT_DRIVER,
	.comp_mask = IBV_QP_INIT_ATTR_PD,
	.pd = DOMAIN,
};

ATTRIBUTES(struct mlx5dv_qp_init_attr, dci) = {
	.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
	.dc_init_attr = { .dc_type = MLX5DV_DCTYPE_DCI },
};

ATTRIBUTES(struct mlx5dv_qp_init_attr, dct) = {
	.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
	.dc_init_attr = {
		.dc_type = MLX5DV_DCTYPE_DCT,
		.dct_access_key = 0xffeeddccbbaa9988,
	},
};

ATTRIBUTES(struct ibv_srq_init_attr, receives) = {
	.attr = { .max_wr = 1, .max_sge = 1 },
};

ATTRIBUTES(struct ibv_ah_attr, address_vector) = {
	.grh = {
		.dgid = { .raw = { 0x20, 0x01, 0x0d, 0xb8, 0x81, 0x82, 0x83, 0x84,
				   0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7 } },
		.flow_label = 0xabcde,
		.sgid_index = 200,
		.hop_limit = 255,
		.traffic_class = 0xe1,
	},
	.dlid = 0xfedc,
	.sl = 15,
	.is_global = 1,
	.port_num = 254,
};

ATTRIBUTES(struct ibv_ah_attr, local_address_vector) = {
	.dlid = 17,
	.port_num = 1,
};

ATTRIBUTES(struct ibv_qp_attr, reset) = {
	.qp_state = IBV_QPS_RESET,
};

ATTRIBUTES(struct ibv_qp_attr, initiator_init) = {
	.qp_state = IBV_QPS_INIT,
	.pkey_index = 0xfedc,
	.port_num = 254,
};

ATTRIBUTES(struct ibv_qp_attr, initiator_rtr) = {
	.qp_state = IBV_QPS_RTR,
	.path_mtu = IBV_MTU_4096,
	.ah_attr = {
		.grh = { .sgid_index = 200 },
		.sl = 15,
		.is_global = 1,
		.port_num = 254,
	},
};

ATTRIBUTES(struct ibv_qp_attr, initiator_rts) = {
	.qp_state = IBV_QPS_RTS,
	.timeout = 31,
	.retry_cnt = 6,
	.rnr_retry = 5,
	.max_rd_atomic = 255,
};

ATTRIBUTES(struct ibv_qp_attr, target_init) = {
	.qp_state = IBV_QPS_INIT,
	.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ,
	.pkey_index = 0xfedc,
	.port_num = 254,
};

ATTRIBUTES(struct ibv_qp_attr, target_rtr) = {
	.qp_state = IBV_QPS_RTR,
	.path_mtu = IBV_MTU_256,
	.ah_attr = {
		.grh = { .sgid_index = 200, .hop_limit = 255, .traffic_class = 0xe1 },
		.is_global = 1,
		.port_num = 254,
	},
	.min_rnr_timer = 31,
};

const int masks[] __attribute__((used, section("dc.masks"))) = {
	IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT,
	IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_AV,
	IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		IBV_QP_MAX_QP_RD_ATOMIC,
	IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
	IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_AV | IBV_QP_MIN_RNR_TIMER,
};
