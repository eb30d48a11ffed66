package io.railhead.protocol.channel;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.protocol.channel.RemovedKeys.Reason;
import io.railhead.protocol.channel.RemovedKeys.Removed;
import io.railhead.protocol.message.MessageException;
import io.railhead.protocol.message.MessageHeader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RemovedKeysTest {

    private static Answer sent(RemovedKeys keys) throws MessageException {
        ByteBuffer message = ByteBuffer.allocate(MessageHeader.MAX_MESSAGE_BYTES)
                .order(LITTLE_ENDIAN);
        assertThat(AnswerCodec.tryEncode(keys.answer(7), message)).isTrue();
        Answer answer = AnswerCodec.decode(message.flip());
        assertThat(answer.cut()).isFalse();
        return answer;
    }

    @Test
    void anyKeyComesBackWithItsReason() throws MessageException {
        RemovedKeys keys = new RemovedKeys(true, List.of(new Removed("", Reason.DELETED),
                new Removed("a b:%/ä😀\n\u0000", Reason.EVICTED),
                new Removed("00ff", Reason.EXPIRED)));
        assertThat(RemovedKeys.of(sent(keys))).isEqualTo(keys);
        RemovedKeys none = new RemovedKeys(false, List.of());
        assertThat(RemovedKeys.of(sent(none))).isEqualTo(none);
        assertThat(none.answer(1).headers()).isEmpty();
    }

    @Test
    void asManyAsTheirRoomHoldsFitIntoAMessage() throws MessageException {
        for (String key : List.of("k", "ä".repeat(512), "\u0001".repeat(1024), "x".repeat(1024))) {
            List<Removed> all = new ArrayList<>();
            Removed one = new Removed(key, Reason.EVICTED);
            for (int room = RemovedKeys.MAX_BYTES - one.encodedBytes(); room >= 0; room -= one
                    .encodedBytes()) {
                all.add(one);
            }
            assertThat(all).as(key).isNotEmpty();
            assertThat(RemovedKeys.of(sent(new RemovedKeys(true, all))).removed()).isEqualTo(all);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"k", "d", "q:k", "d:k ", "d:%", "d:%4", "d:%zz"})
    void keysThatAreNoneAreRefused(String text) {
        assertThatThrownBy(() -> RemovedKeys.of(Answer.ofKeys(1, 1,
                Map.of("x-railhead-removed", text))))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aCountThatIsNotOfTheKeysIsRefused() {
        assertThatThrownBy(() -> RemovedKeys.of(Answer.ofKeys(1, 2,
                Map.of("x-railhead-removed", "d:k")))).hasMessageContaining("2: 1");
    }
}
