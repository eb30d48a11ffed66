package io.railhead.rdma;

import io.railhead.protocol.fuzz.FuzzSuite;
import io.railhead.protocol.fuzz.FuzzTarget;
import io.railhead.rdma.pairing.RcCodecFuzz;
import java.util.List;

class RdmaFuzzTest extends FuzzSuite {

    @Override
    protected List<FuzzTarget> targets() {
        return List.of(new FuzzTarget(RcCodecFuzz.class, RcCodecFuzz::fuzzerTestOneInput));
    }
}
