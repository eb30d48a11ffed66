package io.railhead.protocol;

import io.railhead.protocol.channel.AnswerRecordFuzz;
import io.railhead.protocol.channel.RequestRecordFuzz;
import io.railhead.protocol.fuzz.FuzzSuite;
import io.railhead.protocol.fuzz.FuzzTarget;
import io.railhead.protocol.message.MessageFuzz;
import io.railhead.protocol.token.TokenFuzz;
import java.util.List;

class ProtocolFuzzTest extends FuzzSuite {

    @Override
    protected List<FuzzTarget> targets() {
        return List.of(new FuzzTarget(TokenFuzz.class, TokenFuzz::fuzzerTestOneInput),
                new FuzzTarget(MessageFuzz.class, MessageFuzz::fuzzerTestOneInput),
                new FuzzTarget(RequestRecordFuzz.class, RequestRecordFuzz::fuzzerTestOneInput),
                new FuzzTarget(AnswerRecordFuzz.class, AnswerRecordFuzz::fuzzerTestOneInput));
    }
}
