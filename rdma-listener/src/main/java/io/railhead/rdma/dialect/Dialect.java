package io.railhead.rdma.dialect;

/** How a family of clients asks for RDMA, and how it must be answered. */
public enum Dialect {
    /** {@code x-amz-rdma-token}: cuObject, MinIO, Railhead's own client. */
    AMZ,
    /** {@code x-rdma-info}: NIXL's Dell engine. A decline is always an HTTP error. */
    RDMA_INFO,
    /** {@code X-CuObj-RDMA-Descr}: versity's legacy names. */
    CUOBJ,
    /** {@code x-amz-rdma-protocol}: hipobj-rc-v2. */
    HIPOBJ,
    /** {@code x-amz-meta-rdma-token}: old Dell SPT. */
    META,
    /** {@code x-scal-rdma}: Scality. */
    SCALITY;
}
