package io.railhead.protocol.channel;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.protocol.message.MessageException;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Several windows of one request in its record. */
class RequestWindowTest {
    private static final List<RequestWindow> TWO = List.of(new RequestWindow(7, 4096, 100),
            new RequestWindow(8, 0, 28));
    private static final Map<String, String> ONCE = Map.of("if-none-match", "*");
    /** Behind the fixed fields, the texts "b" and "k", and the first window. */
    private static final int SECOND = RequestLayout.FIXED_BYTES + 2 + RequestWindow.BYTES;

    private static ByteBuffer encoded(Request request) {
        ByteBuffer message = ByteBuffer.allocate(4088).order(LITTLE_ENDIAN);
        assertThat(RequestCodec.tryEncode(request, message)).isTrue();
        return message;
    }

    @Test
    void windowsComeBackInTheirOrder() throws MessageException {
        for (Request request : List.of(Request.get(1, "b", "k", TWO),
                Request.put(2, "b", "k", TWO, ONCE),
                Request.get(3, "b", "k", Collections.nCopies(64, new RequestWindow(-1, -1, 1))))) {
            ByteBuffer message = encoded(request);
            RequestView view = new RequestView();
            assertThat(view.wrap(message, 0, message.position())).isEqualTo(message.position());
            assertThat(view.toRequest()).isEqualTo(request);
            assertThat(view.windowCount()).isEqualTo(request.windows().size());
        }
        assertThat(Request.get(1, "b", "k", TWO).window()).isEqualTo(128);
    }

    @Test
    void wrongWindowsAreRefused() {
        assertMalformed("without a window", message -> message
                .put(RequestLayout.OPERATION, (byte) RequestOperation.HEAD.code()));
        assertMalformed("buffer key and offset", message -> message
                .putInt(RequestLayout.BUFFER_KEY, 7));
        assertMalformed("bytes of all windows", message -> message
                .putLong(RequestLayout.WINDOW, 127));
        assertMalformed("bytes of all windows", message -> message
                .putLong(RequestLayout.WINDOW, 129));
        assertMalformed("bytes of all windows", message -> message
                .putLong(SECOND + RequestWindow.LENGTH, 0));
        assertMalformed("bytes of all windows", message -> message
                .putLong(SECOND + RequestWindow.LENGTH, -100)
                .putLong(RequestLayout.WINDOW, 0));
        assertMalformed("reserved", message -> message.putInt(SECOND + RequestWindow.RESERVED, 1));
        assertMalformed("reserved", message -> message.putShort(RequestLayout.RESERVED, (short) 1));
        assertMalformed("must fill it", message -> message
                .putShort(RequestLayout.WINDOWS, (short) 3));
        assertMalformed("must fill it", message -> message
                .putShort(RequestLayout.WINDOWS, (short) -1));
    }

    private static void assertMalformed(String words, Consumer<ByteBuffer> breaking) {
        ByteBuffer message = encoded(Request.get(1, "b", "k", TWO));
        breaking.accept(message);
        assertThatThrownBy(() -> new RequestView().wrap(message, 0, message.position()))
                .isInstanceOf(MessageException.class)
                .hasMessageContaining(words);
    }

    @Test
    void whatARecordCannotSayIsNotMade() {
        assertThatThrownBy(() -> Request.get(1, "b", "k",
                Collections.nCopies(65, new RequestWindow(1, 0, 1))))
                .hasMessageContaining("at most 64");
        assertThatThrownBy(() -> new RequestWindow(1, 0, 0)).hasMessageContaining("length");
    }
}
