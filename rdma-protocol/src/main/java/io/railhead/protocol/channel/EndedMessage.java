package io.railhead.protocol.channel;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.railhead.protocol.message.EndReason;
import io.railhead.protocol.message.MessageException;
import io.railhead.protocol.message.MessageHeader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The gateway's last message: the reason of the session's end, and the outcome of outstanding
 * requests. Little-endian:
 *
 * <pre>
 *   |header, type 19|reason u32|count u32|answer records|
 * </pre>
 *
 * Answers that do not fit into one message follow in further messages of the same type.
 *
 * @param answers the final answers; a PUT without one has an unknown outcome
 */
public record EndedMessage(EndReason reason, List<Answer> answers) {
    private static final int FIXED_BYTES = 8;

    public EndedMessage {
        answers = List.copyOf(answers);
    }

    /** Returns the messages, ready to be read; at least one. */
    public List<ByteBuffer> encode() {
        List<ByteBuffer> messages = new ArrayList<>();
        int next = 0;
        do {
            ByteBuffer message = ByteBuffer.allocate(MessageHeader.MAX_MESSAGE_BYTES)
                    .order(LITTLE_ENDIAN)
                    .position(MessageHeader.BYTES + FIXED_BYTES);
            int first = next;
            while (next < answers.size() && AnswerCodec.tryEncode(answers.get(next), message)) {
                next++;
            }
            MessageHeader.put(message, 0, MessageHeader.ENDED,
                    message.position() - MessageHeader.BYTES);
            message.putInt(MessageHeader.BYTES, reason.code())
                    .putInt(MessageHeader.BYTES + 4, next - first);
            messages.add(message.flip());
        } while (next < answers.size());
        return messages;
    }

    /** Decodes a message's payload, between the buffer's position and its limit. */
    public static EndedMessage decode(ByteBuffer payload) throws MessageException {
        ByteBuffer in = payload.slice().order(LITTLE_ENDIAN);
        EndReason reason = EndReason.findByCode(in.getInt());
        if (reason == null) {
            throw new MessageException("the reason of an end must be known");
        }
        int count = in.getInt();
        List<Answer> answers = new ArrayList<>();
        while (in.hasRemaining()) {
            answers.add(AnswerCodec.decode(in));
        }
        if (count != answers.size()) {
            throw new MessageException(
                    "ENDED must have as many answers as it says: " + count);
        }
        return new EndedMessage(reason, answers);
    }
}
