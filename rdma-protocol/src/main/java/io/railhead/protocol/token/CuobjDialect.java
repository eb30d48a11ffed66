package io.railhead.protocol.token;

import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Versity's legacy headers: the descriptor is in {@code X-CuObj-RDMA-Descr}. Two optional decimal
 * headers select a part of its window: {@code X-CuObj-Content-Length} (bytes) and
 * {@code X-CuObj-Remote-Buf-Start} (address; 0 is the window's start).
 */
final class CuobjDialect implements Dialect {
    static final String DESCRIPTOR = "x-cuobj-rdma-descr";
    static final String LENGTH = "x-cuobj-content-length";
    static final String START = "x-cuobj-remote-buf-start";
    private static final Pattern DECIMAL = Pattern.compile("[0-9]{1,20}");

    @Override
    public String name() {
        return "cuobj";
    }

    @Override
    public @Nullable Recognition recognise(Function<String, @Nullable String> header) {
        String descriptor = header.apply(DESCRIPTOR);
        String length = header.apply(LENGTH);
        String start = header.apply(START);
        if (descriptor == null && length == null && start == null) {
            return null;
        }
        if (descriptor == null) {
            return new Recognition.Malformed(this, DESCRIPTOR + " is missing");
        }
        Recognition whole = TokenSyntax.recognise(this, List.of(DESCRIPTOR), descriptor.strip());
        return whole instanceof Recognition.Accepted(_, _, Token window)
                ? narrowed(window, start, length)
                : whole;
    }

    private Recognition narrowed(Token window, @Nullable String start, @Nullable String length) {
        long from;
        long bytes;
        try {
            from = start == null ? 0 : decimal(start);
            long skipped = from == 0 ? 0 : from - window.address();
            bytes = length == null ? window.length() - skipped : decimal(length);
        } catch (NumberFormatException e) {
            return new Recognition.Malformed(this, LENGTH + " and " + START + " are decimal");
        }
        Token part = window.narrowedTo(from == 0 ? window.address() : from, bytes);
        return part == null
                ? new Recognition.Malformed(this, TokenSyntax.OUTSIDE)
                : new Recognition.Accepted(this, signed(start, length), part);
    }

    private static List<String> signed(@Nullable String start, @Nullable String length) {
        if (start == null) {
            return length == null ? List.of(DESCRIPTOR) : List.of(DESCRIPTOR, LENGTH);
        }
        return length == null
                ? List.of(DESCRIPTOR, START)
                : List.of(DESCRIPTOR, LENGTH, START);
    }

    private static long decimal(String text) {
        String digits = text.strip();
        if (!DECIMAL.matcher(digits).matches()) {
            throw new NumberFormatException(digits);
        }
        return Long.parseUnsignedLong(digits);
    }

    @Override
    public Decline decline(TokenOperation tokenOperation) {
        return Decline.ERROR;
    }
}
