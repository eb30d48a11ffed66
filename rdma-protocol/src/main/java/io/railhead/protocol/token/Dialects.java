package io.railhead.protocol.token;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The table of dialects. Every known token header is recognised; configuration decides only whether
 * it is served or declined. Immutable; any thread.
 */
public final class Dialects {
    private static final List<String> SINGLE = List.of(RdmaInfoDialect.INFO,
            "x-amz-meta-rdma-token", "x-scal-rdma");
    private static final List<String> FAMILIES = List.of("x-amz-rdma-", "x-cuobj-");

    private final List<Dialect> table;

    /**
     * The dialects that are served besides {@code x-amz-rdma-token}.
     *
     * @param rdmaInfo {@code x-rdma-info}
     * @param cuobj {@code X-CuObj-*}
     * @param connect tokens of queue pairs that were paired before, {@code rc:}
     */
    public record Served(boolean rdmaInfo, boolean cuobj, boolean connect) {
        public static final Served ONLY_AMZ = new Served(false, false, false);
    }

    /** @param putDecline the decline of uploads with an {@code x-amz-rdma-token} */
    public Dialects(PutDecline putDecline, Served served) {
        // Some dialects add headers beside an x-amz-rdma-token, so the more specific ones come
        // first.
        table = List.of(new HipobjDialect(),
                served.rdmaInfo() ? new RdmaInfoDialect() : UnservedDialect.RDMA_INFO,
                served.cuobj() ? new CuobjDialect() : UnservedDialect.CUOBJ,
                UnservedDialect.META, UnservedDialect.SCALITY,
                new AmzDialect(putDecline, served.connect()));
    }

    /**
     * Searches a request for a token. Only operations that move an object's bytes can have one:
     * every other request is ordinary, whatever its headers.
     *
     * @param header returns a request header's value by lower-case name, or null
     */
    public Recognition recognise(TokenOperation tokenOperation,
            Function<String, @Nullable String> header) {
        if (tokenOperation == TokenOperation.OTHER) {
            return new Recognition.None();
        }
        for (Dialect dialect : table) {
            Recognition recognition = dialect.recognise(header);
            if (recognition != null) {
                return recognition;
            }
        }
        return new Recognition.None();
    }

    /**
     * Returns whether a header concerns client and gateway only, and not a store.
     *
     * @param name compared without regard to case
     */
    public static boolean isHeader(String name) {
        for (String family : FAMILIES) {
            if (name.regionMatches(true, 0, family, 0, family.length())) {
                return true;
            }
        }
        for (String single : SINGLE) {
            if (name.equalsIgnoreCase(single)) {
                return true;
            }
        }
        return false;
    }
}
