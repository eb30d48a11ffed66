package io.railhead.protocol.fuzz;

import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/** Inputs made of others by a few faults each; what a seed gives, it gives again. */
final class Mutations {
    private static final int MAX_FAULTS = 4;
    private static final int MAX_BYTES = 16 << 10;
    private static final byte[] TELLING = {0, 1, '\t', '\n', '\r', ' ', '"', '%', '&', '+', ',',
            '-',
            '/', '0', '9', ':', ';', '<', '=', '>', '?', 'f', 0x7f, (byte) 0x80, (byte) 0xc0,
            (byte) 0xff};

    private final List<byte[]> originals;
    private final RandomGenerator random;

    Mutations(List<byte[]> originals, RandomGenerator random) {
        this.originals = originals;
        this.random = random;
    }

    byte[] next() {
        byte[] input = original();
        for (int faults = 1 + random.nextInt(MAX_FAULTS); faults > 0; faults--) {
            input = random.nextInt(8) == 0 || input.length == 0
                    ? spliced(input, original())
                    : broken(input);
        }
        return input.length > MAX_BYTES ? Arrays.copyOf(input, MAX_BYTES) : input;
    }

    private byte[] original() {
        return originals.get(random.nextInt(originals.size()));
    }

    private byte[] broken(byte[] input) {
        int at = random.nextInt(input.length);
        int to = Math.min(input.length, at + 1 + random.nextInt(1 << random.nextInt(8)));
        byte[] copy = input.clone();
        switch (random.nextInt(5)) {
            case 0 -> copy[at] ^= (byte) (1 << random.nextInt(8));
            case 1 -> copy[at] = TELLING[random.nextInt(TELLING.length)];
            case 2 -> copy = replaced(input, at, at, new byte[]{
                    TELLING[random.nextInt(TELLING.length)]});
            case 3 -> copy = replaced(input, at, to, new byte[0]);
            default -> copy = replaced(input, at, at, Arrays.copyOfRange(input, at, to));
        }
        return copy;
    }

    private byte[] spliced(byte[] head, byte[] tail) {
        int at = random.nextInt(head.length + 1);
        int from = random.nextInt(tail.length + 1);
        return replaced(head, at, head.length, Arrays.copyOfRange(tail, from, tail.length));
    }

    private static byte[] replaced(byte[] input, int from, int to, byte[] by) {
        byte[] result = new byte[input.length - (to - from) + by.length];
        System.arraycopy(input, 0, result, 0, from);
        System.arraycopy(by, 0, result, from, by.length);
        System.arraycopy(input, to, result, from + by.length, input.length - to);
        return result;
    }
}
