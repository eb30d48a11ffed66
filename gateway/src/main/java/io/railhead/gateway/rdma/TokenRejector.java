package io.railhead.gateway.rdma;

import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.http.Operation;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.request.S3Request;
import io.railhead.protocol.token.Decline;
import io.railhead.protocol.token.Dialect;
import io.railhead.protocol.token.Dialects;
import io.railhead.protocol.token.PutDecline;
import io.railhead.protocol.token.Recognition;
import io.railhead.protocol.token.TokenOperation;
import org.jspecify.annotations.Nullable;

/**
 * Refuses every token of clients whose signature the gateway cannot verify. The signature covers
 * the token, so the token cannot be removed, and a store does not know it.
 */
public final class TokenRejector implements Operation {
    private final Operation next;
    private final Metrics metrics;
    private final Dialects dialects = new Dialects(PutDecline.ERROR, Dialects.Served.ONLY_AMZ);

    public TokenRejector(Operation next, Metrics metrics) {
        this.next = next;
        this.metrics = metrics;
    }

    @Override
    public void handle(HttpExchange httpExchange, S3Request request) {
        Dialect dialect = dialect(request);
        if (dialect == null) {
            next.handle(httpExchange, request);
            return;
        }
        metrics.rdmaDeclined.labels("authentication").inc();
        // As an upload is declined, whatever this is: with an error, so that nobody falls back.
        Decline form = dialect.decline(TokenOperation.PUT);
        httpExchange.fail(RdmaErrors.declined(
                form instanceof Decline.Answer answer ? answer : Decline.ERROR, "authentication"));
    }

    private @Nullable Dialect dialect(S3Request request) {
        return switch (dialects.recognise(TokenOperation.GET,
                request::header)) {
            case Recognition.None _ -> null;
            case Recognition.Malformed(Dialect dialect, var _) -> dialect;
            case Recognition.Declined(Dialect dialect, var _) -> dialect;
            case Recognition.Accepted(Dialect dialect, var _, var _) -> dialect;
            case Recognition.Paired(Dialect dialect, var _, var _) -> dialect;
        };
    }
}
