package io.railhead.gateway.rdma.pairing;

import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.util.Map;

/**
 * The two client families that pair, by their names in metrics, and the form in which each is
 * declined.
 */
enum PairingDialect {
    CONNECT("connect"),
    HIPOBJ("hipobj");

    private final String label;

    PairingDialect(String label) {
        this.label = label;
    }

    private Map<String, String> unsupported() {
        return this == HIPOBJ
                ? Map.of("x-amz-rdma-protocol-status", "unsupported")
                : Map.of();
    }

    String label() {
        return label;
    }

    S3Refusal declined(String reason) {
        return new S3Refusal(S3Error.RDMA_NOT_SUPPORTED,
                "RDMA is not used for this request: " + reason + ".").withHeaders(unsupported())
                .withHeader("x-railhead-rdma-declined", reason);
    }
}
