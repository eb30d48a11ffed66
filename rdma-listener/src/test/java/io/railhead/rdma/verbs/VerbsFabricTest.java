package io.railhead.rdma.verbs;

import io.railhead.os.verbs.RequiresVerbs;
import io.railhead.rdma.FabricContract;
import io.railhead.rdma.FabricRig;
import java.io.IOException;

@RequiresVerbs
final class VerbsFabricTest extends FabricContract {

    @Override
    protected FabricRig start() throws IOException {
        return VerbsRig.start();
    }
}
