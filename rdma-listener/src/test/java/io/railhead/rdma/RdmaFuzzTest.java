package io.railhead.rdma;

import io.railhead.rdma.channel.AnswerRecordFuzz;
import io.railhead.rdma.channel.RequestRecordFuzz;
import io.railhead.rdma.dialect.TokenFuzz;
import io.railhead.rdma.dialect.rc.RcCodecFuzz;
import io.railhead.rdma.fuzz.FuzzSuite;
import io.railhead.rdma.fuzz.FuzzTarget;
import io.railhead.rdma.session.MessageFuzz;
import java.util.List;

class RdmaFuzzTest extends FuzzSuite {

    @Override
    protected List<FuzzTarget> targets() {
        return List.of(new FuzzTarget(TokenFuzz.class, TokenFuzz::fuzzerTestOneInput),
                new FuzzTarget(RcCodecFuzz.class, RcCodecFuzz::fuzzerTestOneInput),
                new FuzzTarget(MessageFuzz.class, MessageFuzz::fuzzerTestOneInput),
                new FuzzTarget(RequestRecordFuzz.class, RequestRecordFuzz::fuzzerTestOneInput),
                new FuzzTarget(AnswerRecordFuzz.class, AnswerRecordFuzz::fuzzerTestOneInput));
    }
}
