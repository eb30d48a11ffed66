package io.railhead.gateway.s3.body;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The bytes of a form whose fields before the file have been read. In S3 the file is the last
 * field, at some stores it is not. A field behind it could then make the store write another object
 * than the verified one. The forwarded form therefore ends with its file. Blanks replace the rest,
 * so that the declared length stays right (RFC 2046 §5.1.1: bytes behind the end are ignored).
 * Single-threaded.
 */
final class FormFraming implements Framing {
    private static final byte[] END = {'-', '-'};
    private static final byte[] NEXT = {'\r', '\n'};

    private final byte[] delimiter;
    /**
     * Starts behind a line end, as if the file's headers ended one: some parsers take an immediate
     * delimiter for one.
     */
    private int matched = 1;
    private boolean afterReturn = true;
    private byte before = '\n';
    private int behind;
    private int headRemaining;

    /** @param headBytes the bytes before the file, which pass unchanged */
    FormFraming(String boundary, int headBytes) {
        headRemaining = headBytes;
        delimiter = ("\n--" + boundary).getBytes(ISO_8859_1);
    }

    @Override
    public void accept(ByteBuffer in, Consumer<ByteBuffer> out) {
        int start = in.position();
        int ofHead = Math.min(headRemaining, in.remaining());
        headRemaining -= ofHead;
        in.position(start + ofHead);
        while (in.hasRemaining() && matched < delimiter.length) {
            match(in.get());
        }
        if (in.position() > start) {
            out.accept(in.slice(start, in.position() - start));
        }
        while (in.hasRemaining() && behind < END.length) {
            end(in.get(), out);
        }
        if (in.hasRemaining()) {
            out.accept(blanks(in));
        }
    }

    private static ByteBuffer blanks(ByteBuffer in) {
        byte[] blanks = new byte[in.remaining()];
        in.get(blanks);
        for (int i = 0; i < blanks.length; i++) {
            if (blanks[i] != '\r' && blanks[i] != '\n') {
                blanks[i] = ' ';
            }
        }
        return ByteBuffer.wrap(blanks);
    }

    /** Matches the delimiter. No boundary holds a line feed, so a match can begin only at one. */
    private void match(byte b) {
        if (b == delimiter[matched]) {
            matched++;
        } else if (b == '\n') {
            matched = 1;
        } else {
            matched = 0;
        }
        if (b == '\n') {
            afterReturn = before == '\r';
        }
        before = b;
        if (matched == delimiter.length && !afterReturn) {
            throw malformed();
        }
    }

    /**
     * Decides by two bytes whether the delimiter ends the form. Other bytes are refused: some
     * parsers would take the line for no delimiter.
     */
    private void end(byte b, Consumer<ByteBuffer> out) {
        boolean isEnd = b == END[behind] && (behind == 0 || before == END[0]);
        boolean isNext = b == NEXT[behind] && (behind == 0 || before == NEXT[0]);
        if (!isEnd && !isNext) {
            throw malformed();
        }
        before = b;
        behind++;
        if (behind == END.length) {
            out.accept(ByteBuffer.wrap(END));
        }
    }

    @Override
    public void end() {
        if (behind < END.length) {
            throw malformed();
        }
    }

    @Override
    public Map<String, String> trailers() {
        return Map.of();
    }

    private static S3Refusal malformed() {
        return new S3Refusal(S3Error.MALFORMED_POST_REQUEST);
    }
}
