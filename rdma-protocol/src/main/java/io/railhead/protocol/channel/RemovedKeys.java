package io.railhead.protocol.channel;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * The answer to REMOVALS. The keys are in one header: for each a letter for the reason, a colon,
 * and the rest of the key behind the request's prefix. A blank parts them. Bytes of a key that are
 * not unreserved in a URI, nor {@code /}, are percent-encoded.
 *
 * @param anew whether removals before this answer may not have been told: the subscription began,
 *            or its queue ran over
 */
public record RemovedKeys(boolean anew, List<Removed> removed) {
    /** The room for all keys of one answer, each with its {@link Removed#encodedBytes}. */
    public static final int MAX_BYTES = 3900;
    private static final String KEYS = "x-railhead-removed";
    private static final String ANEW = "x-railhead-anew";

    /** The reason of a removal. */
    public enum Reason {
        /** A client removed the object. */
        DELETED('d'),
        /** The object made room for another, or an operator evicted it. */
        EVICTED('e'),
        /** The object's rule let it live no longer. */
        EXPIRED('x');

        private final char letter;

        Reason(char letter) {
            this.letter = letter;
        }

        private static @Nullable Reason find(char letter) {
            for (Reason reason : values()) {
                if (reason.letter == letter) {
                    return reason;
                }
            }
            return null;
        }
    }

    /** @param key without the request's prefix */
    public record Removed(String key, Reason reason) {

        /** Returns the bytes that the key takes of an answer's {@link #MAX_BYTES}. */
        public int encodedBytes() {
            int bytes = 3;
            for (byte each : key.getBytes(UTF_8)) {
                bytes += isPlain(each) ? 1 : 3;
            }
            return bytes;
        }
    }

    public RemovedKeys {
        removed = List.copyOf(removed);
    }

    /** Returns the answer to a request. */
    public Answer answer(int id) {
        Map<String, String> headers = new LinkedHashMap<>();
        if (anew) {
            headers.put(ANEW, "1");
        }
        if (!removed.isEmpty()) {
            StringJoiner keys = new StringJoiner(" ");
            removed.forEach(each -> keys.add(each.reason.letter + ":" + encoded(each.key)));
            headers.put(KEYS, keys.toString());
        }
        return Answer.ofKeys(id, removed.size(), headers);
    }

    /** Returns what an answer says; throws IllegalArgumentException if it is none of REMOVALS. */
    public static RemovedKeys of(Answer answer) {
        String keys = answer.headers().getOrDefault(KEYS, "");
        List<Removed> removed = new ArrayList<>();
        if (!keys.isEmpty()) {
            for (String each : keys.split(" ", -1)) {
                removed.add(removed(each));
            }
        }
        if (answer.objectSize() != removed.size()) {
            throw new IllegalArgumentException("an answer must have as many keys as it says, "
                    + answer.objectSize() + ": " + removed.size());
        }
        return new RemovedKeys("1".equals(answer.headers().get(ANEW)), removed);
    }

    private static Removed removed(String text) {
        Reason reason = text.length() >= 2 && text.charAt(1) == ':'
                ? Reason.find(text.charAt(0))
                : null;
        if (reason == null) {
            throw new IllegalArgumentException("a removed key must have its reason: " + text);
        }
        return new Removed(decoded(text), reason);
    }

    private static String encoded(String key) {
        StringBuilder text = new StringBuilder(key.length());
        for (byte each : key.getBytes(UTF_8)) {
            if (isPlain(each)) {
                text.append((char) each);
            } else {
                text.append('%').append("%02X".formatted(each));
            }
        }
        return text.toString();
    }

    private static boolean isPlain(byte each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z')
                || (each >= '0' && each <= '9') || each == '-' || each == '.' || each == '_'
                || each == '~' || each == '/';
    }

    /** Decodes the text behind the reason. */
    private static String decoded(String text) {
        byte[] bytes = new byte[text.length()];
        int count = 0;
        for (int i = 2; i < text.length(); i++) {
            if (text.charAt(i) == '%') {
                if (i + 3 > text.length()) {
                    throw new IllegalArgumentException("a key must end its bytes: " + text);
                }
                bytes[count++] = (byte) Integer.parseInt(text, i + 1, i + 3, 16);
                i += 2;
            } else {
                bytes[count++] = (byte) text.charAt(i);
            }
        }
        return new String(bytes, 0, count, UTF_8);
    }
}
