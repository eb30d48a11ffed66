package io.railhead.protocol.channel;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The answer to USAGE: what the cache-only objects below a prefix take, in headers whose values are
 * decimal digits.
 *
 * @param objects those that the caller may read
 * @param bytes their memory
 * @param leasedBytes of those that are leased now
 * @param limitBytes the most that all objects of the caller's tenant may take
 */
public record KeyUsage(long objects, long bytes, long leasedBytes, long limitBytes) {
    private static final String BYTES = "x-railhead-bytes";
    private static final String LEASED = "x-railhead-leased-bytes";
    private static final String LIMIT = "x-railhead-limit-bytes";

    /** Returns the answer to a request. */
    public Answer answer(int id) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put(BYTES, Long.toString(bytes));
        headers.put(LEASED, Long.toString(leasedBytes));
        headers.put(LIMIT, Long.toString(limitBytes));
        return Answer.ofKeys(id, objects, headers);
    }

    /** Returns what an answer says; throws {@link NumberFormatException} if it is none of USAGE. */
    public static KeyUsage of(Answer answer) {
        return new KeyUsage(answer.objectSize(), number(answer, BYTES), number(answer, LEASED),
                number(answer, LIMIT));
    }

    private static long number(Answer answer, String name) {
        return Long.parseLong(answer.headers().getOrDefault(name, ""));
    }
}
