package io.railhead.protocol.token;

import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * AMD hipObject on an ordinary S3 request, recognised by its token of 88 hex digits or by its
 * headers. Its queue pairs must be connected first, which one request cannot do. Version 2 of its
 * protocol has paths of its own for that, and falls back to HTTP if this version is declined as
 * unsupported.
 */
final class HipobjDialect implements Dialect {
    private static final String PROTOCOL = "x-amz-rdma-protocol";
    private static final String COOKIE = "x-amz-rdma-cookie";
    private static final Pattern TOKEN = Pattern
            .compile("[0-9a-fA-F]{88}(:[0-9a-fA-F]{1,16}:[0-9a-fA-F]{1,16})?;?");
    private static final Decline UNSUPPORTED = new Decline.Answer(Decline.NOT_IMPLEMENTED,
            Map.of("x-amz-rdma-protocol-status", "unsupported"));

    @Override
    public String name() {
        return "hipobj";
    }

    @Override
    public @Nullable Recognition recognise(Function<String, @Nullable String> header) {
        String token = header.apply(AmzDialect.TOKEN);
        boolean isSpoken = header.apply(PROTOCOL) != null || header.apply(COOKIE) != null
                || (token != null && TOKEN.matcher(token.strip()).matches());
        return isSpoken ? new Recognition.Declined(this, name()) : null;
    }

    @Override
    public Decline decline(TokenOperation tokenOperation) {
        return UNSUPPORTED;
    }
}
