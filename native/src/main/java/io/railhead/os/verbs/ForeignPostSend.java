package io.railhead.os.verbs;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.SVCPostSend;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * DiSNI's prepared send: the work requests are written out once, and each setter of a
 * {@code getWrMod} changes its field in place.
 */
final class ForeignPostSend extends SVCPostSend {
    private final IbvQP queuePair;
    private final PreparedSends prepared;
    private final List<Request> requests = new ArrayList<>();
    private boolean isValid = true;

    ForeignPostSend(IbvQP queuePair, List<IbvSendWR> requests) {
        this.queuePair = queuePair;
        int entries = 1;
        for (IbvSendWR request : requests) {
            entries = Math.max(entries, request.getSg_list().size());
        }
        prepared = new PreparedSends(requests.size(), entries);
        for (IbvSendWR request : requests) {
            this.requests.add(write(request));
        }
    }

    private Request write(IbvSendWR request) {
        int index = prepared.size();
        prepared.add(request.getWr_id(), request.getOpcode(), request.getSend_flags())
                .remote(request.getRdma().getRemote_addr(), request.getRdma().getRkey());
        // DiSNI's immediate is in network byte order already, here and in its completions.
        prepared.setInt(index * Layout.SendWr.SIZE + Layout.SendWr.IMM_DATA,
                request.getImm_data());
        List<Entry> entries = new ArrayList<>();
        for (IbvSge entry : request.getSg_list()) {
            prepared.entry(entry.getAddr(), entry.getLength(), entry.getLkey());
            entries.add(new Entry(index, entries.size()));
        }
        return new Request(index, entries);
    }

    @Override
    public SVCPostSend execute() throws IOException {
        prepared.post(queuePair);
        if (prepared.refusal() != 0) {
            throw new VerbsException("ibv_post_send", prepared.refusal());
        }
        return this;
    }

    @Override
    public SendWRMod getWrMod(int index) {
        return requests.get(index);
    }

    @Override
    public boolean isValid() {
        return isValid;
    }

    @Override
    public SVCPostSend free() {
        if (isValid) {
            isValid = false;
            prepared.close();
        }
        return this;
    }

    private final class Request implements SendWRMod, RdmaMod {
        private final long at;
        private final List<Entry> entries;
        private int reserved;

        Request(int index, List<Entry> entries) {
            at = index * Layout.SendWr.SIZE;
            this.entries = List.copyOf(entries);
        }

        @Override
        public void setWr_id(long id) {
            prepared.setLong(at + Layout.SendWr.WR_ID, id);
        }

        @Override
        public long getWr_id() {
            return prepared.getLong(at + Layout.SendWr.WR_ID);
        }

        @Override
        public void setSend_flags(int flags) {
            prepared.setInt(at + Layout.SendWr.SEND_FLAGS, flags);
        }

        @Override
        public int getSend_flags() {
            return prepared.getInt(at + Layout.SendWr.SEND_FLAGS);
        }

        @Override
        public int getOpcode() {
            return prepared.getInt(at + Layout.SendWr.OPCODE);
        }

        @Override
        public int getNum_sge() {
            return entries.size();
        }

        @Override
        public RdmaMod getRdmaMod() {
            return this;
        }

        @Override
        public SgeMod getSgeMod(int index) {
            return entries.get(index);
        }

        @Override
        public void setRemote_addr(long address) {
            prepared.setLong(at + Layout.SendWr.REMOTE_ADDR, address);
        }

        @Override
        public long getRemote_addr() {
            return prepared.getLong(at + Layout.SendWr.REMOTE_ADDR);
        }

        @Override
        public void setRkey(int rkey) {
            prepared.setInt(at + Layout.SendWr.RKEY, rkey);
        }

        @Override
        public int getRkey() {
            return prepared.getInt(at + Layout.SendWr.RKEY);
        }

        @Override
        public void setReserved(int value) {
            reserved = value;
        }

        @Override
        public int getReserved() {
            return reserved;
        }
    }

    private final class Entry implements SgeMod {
        private final long at;

        Entry(int request, int index) {
            at = prepared.entriesOffset(request) + index * Layout.Sge.SIZE;
        }

        @Override
        public void setAddr(long address) {
            prepared.setLong(at + Layout.Sge.ADDR, address);
        }

        @Override
        public long getAddr() {
            return prepared.getLong(at + Layout.Sge.ADDR);
        }

        @Override
        public void setLength(int bytes) {
            prepared.setInt(at + Layout.Sge.LENGTH, bytes);
        }

        @Override
        public int getLength() {
            return prepared.getInt(at + Layout.Sge.LENGTH);
        }

        @Override
        public void setLkey(int lkey) {
            prepared.setInt(at + Layout.Sge.LKEY, lkey);
        }

        @Override
        public int getLkey() {
            return prepared.getInt(at + Layout.Sge.LKEY);
        }
    }
}
