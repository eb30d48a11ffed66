package io.railhead.gateway.s3.body;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The bytes of a form whose fields before the file have been read. To S3 the file is the last
 * field, to some stores it is not, and a field behind it can have them store another object than
 * the one that was looked at: the form ends with its file, and blanks stand where the rest was, so
 * that it stays as long as it was declared (RFC 2046 §5.1.1: what follows the end is ignored).
 * Single-threaded.
 */
final class FormFraming implements Framing {
    private static final byte[] END = {'-', '-'};
    private static final byte[] NEXT = {'\r', '\n'};

    private final byte[] delimiter;
    /** As if the file's headers ended with a delimiter's line end: some readers see it so. */
    private int matched = 1;
    private boolean afterReturn = true;
    private byte before = '\n';
    private int behind;
    private int headRemaining;

    /** @param headBytes before the file's own, which go as they are */
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

    /** No boundary holds a line feed, so a match can only begin at one. */
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

    /** Two bytes say whether it is the end; what says neither is no delimiter to some readers. */
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
