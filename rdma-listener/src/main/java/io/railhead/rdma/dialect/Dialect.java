package io.railhead.rdma.dialect;

import java.util.Map;

/** How a family of clients asks for RDMA, and how it must be answered. */
public enum Dialect {
    /** {@code x-amz-rdma-token}: cuObject, MinIO, Railhead's own client. */
    AMZ {
        @Override
        public Decline decline(Operation operation, PutDecline put) {
            if (operation == Operation.GET || operation == Operation.OTHER) {
                return new Decline.ServeInline();
            }
            int status = switch (put) {
                case ERROR -> NOT_IMPLEMENTED;
                case DRAFT -> 200;
            };
            return new Decline.Answer(status, Map.of(Reply.STATUS, "" + NOT_IMPLEMENTED), CODE);
        }
    },
    /** {@code x-rdma-info}: NIXL's Dell engine. A decline is always an HTTP error. */
    RDMA_INFO,
    /** {@code X-CuObj-RDMA-Descr}: versity's legacy names. */
    CUOBJ,
    /** {@code x-amz-rdma-protocol}: hipobj-rc-v2. */
    HIPOBJ {
        @Override
        public Decline decline(Operation operation, PutDecline put) {
            return new Decline.Answer(NOT_IMPLEMENTED,
                    Map.of("x-amz-rdma-protocol-status", "unsupported"), CODE);
        }
    },
    /** {@code x-amz-meta-rdma-token}: old Dell SPT. */
    META,
    /** {@code x-scal-rdma}: Scality. */
    SCALITY;

    private static final int NOT_IMPLEMENTED = 501;
    private static final String CODE = "RDMANotSupported";

    /** How this family is told that there will be no RDMA for this request. */
    public Decline decline(Operation operation, PutDecline put) {
        return new Decline.Answer(NOT_IMPLEMENTED, Map.of(), CODE);
    }
}
