package io.railhead.rdma.verbs;

import io.railhead.os.verbs.RequiresVerbs;
import io.railhead.rdma.FabricRig;
import io.railhead.rdma.SessionFabricContract;
import java.io.IOException;

@RequiresVerbs
final class VerbsFabricTest extends SessionFabricContract {

    @Override
    protected FabricRig start() throws IOException {
        return VerbsRig.start();
    }
}
