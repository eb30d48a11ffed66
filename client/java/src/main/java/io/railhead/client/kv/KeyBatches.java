package io.railhead.client.kv;

import io.railhead.protocol.channel.KeyBlock;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestCodec;
import io.railhead.protocol.channel.RequestOperation;
import io.railhead.protocol.message.MessageHeader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Packs keys into as few requests as have room for them. Keys of one length that differ only in
 * lower-case hexadecimal digits travel as hashes, which take half the room.
 */
final class KeyBatches {
    private static final int ROOM = MessageHeader.MAX_MESSAGE_BYTES - MessageHeader.BYTES;
    /** The count and the hash bytes before the keys, and the padding behind them. */
    private static final int AROUND_KEYS = 4 + 7;

    private final String bucket;
    private final String prefix;
    private final List<String> keys;

    /**
     * The keys of one request: those from {@code first} on.
     *
     * @param prefix what all of them begin with
     */
    record Batch(int first, int count, String prefix, KeyBlock keys) {}

    private KeyBatches(String bucket, String prefix, List<String> keys) {
        this.bucket = bucket;
        this.prefix = prefix;
        this.keys = keys;
    }

    /**
     * Returns the batches in the keys' order; none without keys.
     *
     * @throws IllegalArgumentException if a key is empty, or too long for a message
     */
    static List<Batch> of(String bucket, String prefix, List<String> keys) {
        if (keys.isEmpty()) {
            return List.of();
        }
        if (keys.contains("")) {
            throw new IllegalArgumentException("key must not be empty");
        }
        KeyBatches batches = new KeyBatches(bucket, prefix, keys);
        List<Batch> hashes = batches.findHashes();
        return hashes == null ? batches.texts() : hashes;
    }

    /** Returns null unless all keys end in the digits of hashes of one length. */
    private @Nullable List<Batch> findHashes() {
        String first = keys.getFirst();
        int length = first.length();
        int shared = keys.size() == 1 ? 0 : sharedChars();
        int start = shared - ((length - shared) & 1);
        int width = (length - start) / 2;
        if (start < 0 || width < 1 || width > KeyBlock.MAX_HASH_BYTES) {
            return null;
        }
        byte[] hashes = new byte[keys.size() * width];
        for (int i = 0; i < keys.size(); i++) {
            String key = keys.get(i);
            if (key.length() != length || !isDigits(key, start)) {
                return null;
            }
            byte[] hash = HexFormat.of().parseHex(key, start, length);
            System.arraycopy(hash, 0, hashes, i * width, width);
        }
        return hashes(prefix + first.substring(0, start), width, hashes);
    }

    private static boolean isDigits(String key, int from) {
        return key.chars()
                .skip(from)
                .allMatch(c -> (c >= '0' && c <= '9')
                        || (c >= 'a' && c <= 'f'));
    }

    private @Nullable List<Batch> hashes(String whole, int width, byte[] hashes) {
        int most = Math.min(KeyBlock.MAX_KEYS, room(whole) / width);
        if (most < 1) {
            return null;
        }
        List<Batch> batches = new ArrayList<>();
        for (int at = 0; at < keys.size(); at += most) {
            int count = Math.min(most, keys.size() - at);
            batches.add(new Batch(at, count, whole, KeyBlock.ofHashes(width,
                    Arrays.copyOfRange(hashes, at * width, (at + count) * width))));
        }
        return batches;
    }

    private List<Batch> texts() {
        int shared = keys.size() == 1 ? 0 : sharedChars();
        String whole = prefix + keys.getFirst().substring(0, shared);
        int room = room(whole);
        List<Batch> batches = new ArrayList<>();
        int first = 0;
        int taken = 0;
        for (int i = 0; i < keys.size(); i++) {
            int bytes = Short.BYTES + bytes(keys.get(i).substring(shared));
            if (bytes > room) {
                throw new IllegalArgumentException("a key is too long for a message: "
                        + (bytes(whole) + bytes - Short.BYTES) + " bytes");
            }
            if (taken + bytes > room || i - first == KeyBlock.MAX_KEYS) {
                batches.add(text(first, i, whole, shared));
                first = i;
                taken = 0;
            }
            taken += bytes;
        }
        batches.add(text(first, keys.size(), whole, shared));
        return batches;
    }

    private Batch text(int first, int end, String whole, int shared) {
        return new Batch(first, end - first, whole, KeyBlock.ofTexts(keys.subList(first, end)
                .stream()
                .map(key -> key.substring(shared))
                .toList()));
    }

    /** Returns how many chars all keys begin with, and leaves no half of a surrogate pair. */
    private int sharedChars() {
        String first = keys.getFirst();
        int shared = first.length();
        for (String key : keys) {
            int same = 0;
            while (same < shared && same < key.length()
                    && key.charAt(same) == first.charAt(same)) {
                same++;
            }
            shared = same;
        }
        return shared > 0 && Character.isHighSurrogate(first.charAt(shared - 1))
                ? shared - 1
                : shared;
    }

    private int room(String whole) {
        return ROOM - AROUND_KEYS - RequestCodec.recordBytes(Request.ofKeys(0,
                RequestOperation.DELETE_PREFIX, bucket, "", KeyBlock.NONE)) - bytes(whole);
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
