package io.railhead.protocol.channel;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Requests and answers that are valid and otherwise anything. */
final class RandomRecords {
    private static final int[] ALPHABET = {'a', 'Z', '0', '/', '%', ' ', 0x7f, 0xe9, 0x4e2d,
            0x1f69a, 0xffff, 0x10ffff};
    private final Random random;

    RandomRecords(long seed) {
        random = new Random(seed);
    }

    Request request() {
        RequestOperation operation = pick(RequestOperation.values());
        if (operation.isOfKeys()) {
            if (operation == RequestOperation.LEASE) {
                return Request.lease(random.nextInt(), text(1, 60), text(0, 100), keys(),
                        1 + random.nextInt(Integer.MAX_VALUE));
            }
            if (operation == RequestOperation.REMOVALS) {
                return Request.removals(random.nextInt(), text(1, 60), text(0, 100),
                        1 + random.nextInt(Integer.MAX_VALUE));
            }
            return Request.ofKeys(random.nextInt(), operation, text(1, 60), text(0, 100),
                    operation.hasKeyBlock() ? keys() : KeyBlock.NONE);
        }
        if (operation.mayHaveWindows() && random.nextInt(3) == 0) {
            return operation == RequestOperation.PUT
                    ? Request.put(random.nextInt(), text(1, 60), text(1, 300), windows(), headers())
                    : Request.get(random.nextInt(), text(1, 60), text(1, 300), windows())
                            .withRange(range());
        }
        boolean write = operation.isWrite();
        boolean head = operation == RequestOperation.HEAD;
        boolean part = operation == RequestOperation.UPLOAD_PART;
        return new Request(random.nextInt(), operation, write ? RequestRange.ALL : range(),
                head ? 0 : random.nextInt(), head ? 0 : random.nextLong(),
                head ? 0 : random.nextLong(), part ? 1 + random.nextInt(10_000) : 0, text(1, 60),
                text(1, 300), write ? "" : text(0, 30), line(0, 30), part ? text(1, 90) : "",
                write ? headers() : Map.of());
    }

    private List<RequestWindow> windows() {
        List<RequestWindow> windows = new ArrayList<>();
        for (int i = random.nextInt(RequestWindow.MAX_WINDOWS); i >= 0; i--) {
            windows.add(new RequestWindow(random.nextInt(), random.nextLong(),
                    1 + random.nextLong(1L << 40)));
        }
        return windows;
    }

    private KeyBlock keys() {
        if (random.nextBoolean()) {
            byte[] hashes = new byte[(1 + random.nextInt(20)) * 32];
            random.nextBytes(hashes);
            return KeyBlock.ofHashes(32, hashes);
        }
        List<String> keys = new ArrayList<>();
        for (int i = random.nextInt(10); i >= 0; i--) {
            keys.add(text(1, 60));
        }
        return KeyBlock.ofTexts(keys);
    }

    Answer answer() {
        return new Answer(random.nextInt(), random.nextInt(0x10000), random.nextLong(),
                random.nextLong(), random.nextLong(), random.nextLong(), text(0, 40), text(0, 40),
                text(0, 20), text(0, 200), headers(),
                pick(AnswerOrigin.values()), false);
    }

    private <T> T pick(T[] alternatives) {
        return alternatives[random.nextInt(alternatives.length)];
    }

    private RequestRange range() {
        long first = random.nextLong() >>> (1 + random.nextInt(60));
        return switch (random.nextInt(4)) {
            case 0 -> RequestRange.ALL;
            case 1 -> new RequestRange.From(first);
            case 2 -> new RequestRange.Last(first);
            default -> new RequestRange.Between(first,
                    first + random.nextLong(Long.MAX_VALUE - first));
        };
    }

    private Map<String, String> headers() {
        Map<String, String> headers = new LinkedHashMap<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            headers.put("x-amz-meta-" + random.nextInt(100), "v: \u00e9 " + random.nextInt());
        }
        return headers;
    }

    private String line(int from, int to) {
        return text(from, to).replaceAll("\\p{Cntrl}", "-");
    }

    private String text(int from, int to) {
        int length = random.nextInt(from, to + 1);
        StringBuilder text = new StringBuilder();
        boolean ascii = random.nextBoolean();
        for (int i = 0; i < length; i++) {
            text.appendCodePoint(ascii
                    ? ' ' + random.nextInt(95)
                    : ALPHABET[random.nextInt(ALPHABET.length)]);
        }
        return text.toString();
    }
}
