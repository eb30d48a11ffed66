package io.railhead.protocol.channel;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.protocol.message.MessageException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecordsTest {

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void requestsOfAMessageAreReadAsTheyWereWritten(long seed) throws MessageException {
        RandomRecords records = new RandomRecords(seed);
        for (int round = 0; round < 500; round++) {
            ByteBuffer message = soiled();
            List<Request> written = new ArrayList<>();
            Request next = records.request();
            while (RequestCodec.tryEncode(next, message)) {
                written.add(next);
                next = records.request();
            }
            assertThat(requests(message.flip())).isEqualTo(written);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void answersOfAMessageAreReadAsTheyWereWritten(long seed) throws MessageException {
        RandomRecords records = new RandomRecords(seed);
        for (int round = 0; round < 500; round++) {
            ByteBuffer message = soiled();
            List<Answer> written = new ArrayList<>();
            Answer next = records.answer();
            while (AnswerCodec.tryEncode(next, message)) {
                written.add(next);
                next = records.answer();
            }
            message.flip();
            List<Answer> read = new ArrayList<>();
            while (message.hasRemaining()) {
                read.add(AnswerCodec.decode(message));
            }
            assertThat(read).isEqualTo(written);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void aNameIsFoundAgainByItsBytes(long seed) throws MessageException {
        RandomRecords records = new RandomRecords(seed);
        RequestView view = new RequestView();
        ObjectNameBytes before = null;
        for (int round = 0; round < 500; round++) {
            Request request = records.request();
            ByteBuffer message = soiled();
            assertThat(RequestCodec.tryEncode(request, message)).isTrue();
            int _ = view.wrap(message, 0, message.position());
            ObjectNameBytes name = view.name();
            assertThat(name.bucket()).isEqualTo(request.bucket());
            assertThat(name.key()).isEqualTo(request.key());
            assertThat(name.hashCode()).isEqualTo(view.nameHash());
            assertThat(view.nameEquals(name)).isTrue();
            if (before != null) {
                assertThat(view.nameEquals(before)).isEqualTo(before.equals(name));
            }
            before = name;
        }
    }

    private static List<Request> requests(ByteBuffer message) throws MessageException {
        RequestView view = new RequestView();
        List<Request> read = new ArrayList<>();
        for (int at = 0; at < message.limit();) {
            at = view.wrap(message, at, message.limit());
            read.add(view.toRequest());
        }
        return read;
    }

    /** A buffer that held something before. */
    private static ByteBuffer soiled() {
        ByteBuffer buffer = ByteBuffer.allocate(4088).order(LITTLE_ENDIAN);
        while (buffer.hasRemaining()) {
            buffer.put((byte) 0x5a);
        }
        return buffer.clear();
    }
}
