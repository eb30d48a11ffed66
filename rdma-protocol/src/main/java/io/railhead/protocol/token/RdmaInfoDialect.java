package io.railhead.protocol.token;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * {@code x-rdma-info}: NIXL's engine for Dell ObjectScale, which checks only the status. A decline
 * must therefore be an error: any other would pass for the object.
 */
final class RdmaInfoDialect implements Dialect {
    static final String INFO = "x-rdma-info";

    @Override
    public String name() {
        return "rdma_info";
    }

    @Override
    public @Nullable Recognition recognise(Function<String, @Nullable String> header) {
        String token = header.apply(INFO);
        return token == null
                ? null
                : TokenSyntax.recognise(this, List.of(INFO), token.strip());
    }

    @Override
    public Decline decline(TokenOperation tokenOperation) {
        return Decline.ERROR;
    }
}
