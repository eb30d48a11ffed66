package io.railhead.gateway.operation;

import io.railhead.gateway.admin.Metrics;
import io.railhead.gateway.http.Exchange;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Exception;
import io.railhead.rdma.dialect.Decline;
import io.railhead.rdma.dialect.Dialect;
import io.railhead.rdma.dialect.Dialects;
import io.railhead.rdma.dialect.PutDecline;
import io.railhead.rdma.dialect.Recognition;
import org.jspecify.annotations.Nullable;

/**
 * Refuses every token: the client's signature covers it, so it could neither be left out nor sent
 * to a store that knows nothing of it, and nobody here has verified whose it is.
 */
record NoTokens(Operation next, Metrics metrics) implements Operation {

    @Override
    public void handle(Exchange exchange, S3Request request) {
        Dialect dialect = dialect(request);
        if (dialect == null) {
            next.handle(exchange, request);
            return;
        }
        metrics.rdmaDeclined.labels("authentication").inc();
        S3Exception refusal = new S3Exception(S3Error.RDMA_NOT_SUPPORTED,
                "RDMA needs a gateway that verifies signatures.")
                .withHeader("x-railhead-rdma-declined", "authentication");
        Decline form = dialect.decline(io.railhead.rdma.dialect.Operation.PUT, PutDecline.ERROR);
        exchange.fail(form instanceof Decline.Answer(int _, var headers, var _)
                ? refusal.withHeaders(headers)
                : refusal);
    }

    private static @Nullable Dialect dialect(S3Request request) {
        return switch (Dialects.recognise(io.railhead.rdma.dialect.Operation.GET,
                request::header)) {
            case Recognition.None _ -> null;
            case Recognition.Malformed(Dialect dialect, var _, var _) -> dialect;
            case Recognition.Declined(Dialect dialect, var _, var _) -> dialect;
            case Recognition.Accepted(Dialect dialect, var _, var _) -> dialect;
        };
    }
}
