package io.railhead.rdma.dialect;

/** Lower-case hex digits as tokens print them: nothing else is accepted. */
final class Hex {

    private Hex() {}

    static boolean isLowerCase(CharSequence text) {
        return text.chars().allMatch(c -> (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
    }
}
