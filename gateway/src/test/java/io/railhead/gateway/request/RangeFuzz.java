package io.railhead.gateway.request;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.math.BigInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Range headers, against a model that knows no overflow. */
public final class RangeFuzz {
    private static final Pattern RANGE = Pattern.compile("bytes=([0-9]*)-([0-9]*)");
    private static final long[] SIZES = {0, 1, 10, 1L << 32, 5L << 40};

    private RangeFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        String header = new String(input, ISO_8859_1);
        ByteRange range = ByteRange.parse(header);
        Matcher matcher = RANGE.matcher(header);
        if (!matcher.matches()) {
            require(range == null);
            return;
        }
        BigInteger first = number(matcher.group(1));
        BigInteger last = number(matcher.group(2));
        boolean wellFormed = first == null
                ? last != null
                : last == null || first.compareTo(last) <= 0;
        if (range == null) {
            require(!wellFormed);
            return;
        }
        // Two numbers that no object reaches are as good as equal.
        require(wellFormed || range.first() > SIZES[SIZES.length - 1]);
        for (long size : SIZES) {
            compare(range, first, last, size);
        }
    }

    private static void compare(ByteRange range, @Nullable BigInteger first,
            @Nullable BigInteger last, long size) {
        BigInteger end = BigInteger.valueOf(size);
        BigInteger from = first != null
                ? first
                : end.subtract(end.min(last == null ? BigInteger.ZERO : last));
        boolean satisfiable = from.compareTo(end) < 0;
        require(range.isSatisfiable(size) == satisfiable);
        if (satisfiable) {
            BigInteger to = first == null || last == null ? end : end.min(last.add(BigInteger.ONE));
            require(range.from(size) == from.longValueExact());
            require(range.to(size) == to.longValueExact());
        }
    }

    private static @Nullable BigInteger number(String digits) {
        return digits.isEmpty() ? null : new BigInteger(digits);
    }

    private static void require(boolean kept) {
        if (!kept) {
            throw new AssertionError();
        }
    }
}
