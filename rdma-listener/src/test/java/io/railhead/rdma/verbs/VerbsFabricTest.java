package io.railhead.rdma.verbs;

import io.railhead.os.verbs.RequiresVerbs;
import io.railhead.rdma.FabricContract;
import io.railhead.rdma.FabricRig;
import java.io.IOException;
import org.junit.jupiter.api.BeforeAll;

@RequiresVerbs
final class VerbsFabricTest extends FabricContract {

    @BeforeAll
    static void devices() throws IOException {
        VerbsRig.requireDevices();
    }

    @Override
    protected FabricRig start() throws IOException {
        return VerbsRig.start();
    }
}
