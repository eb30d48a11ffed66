package io.railhead.rdma.pairing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.railhead.protocol.token.RcToken;
import java.util.Locale;

/** A text is no descriptor and no token, or printed as it was read. */
public final class RcCodecFuzz {

    private RcCodecFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        String text = new String(input, ISO_8859_1);
        try {
            require(RcDescriptor.parse(text).format().equals(text.toLowerCase(Locale.ROOT)));
        } catch (IllegalArgumentException e) {
            require(e.getMessage() != null);
        }
        try {
            require(RcToken.parse(text).format().equals(text));
        } catch (IllegalArgumentException e) {
            require(e.getMessage() != null);
        }
    }

    private static void require(boolean condition) {
        if (!condition) {
            throw new AssertionError();
        }
    }
}
