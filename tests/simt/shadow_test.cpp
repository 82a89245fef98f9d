// Which accesses conflict: threads, one word, and what orders them.
#include "src/shadow.h"

#include <gtest/gtest.h>

namespace {

using simt::Cell;

/// Threads of a kernel that share a word.
class Threads : public testing::Test {
 protected:
  static constexpr simt::OperationId operation = 1;

  Threads() : timeline_(random_) {
    clocks_.begin_kernel(128);
    clocks_.begin_block(0);
  }

  static simt::Lane lane(unsigned linear) {
    simt::Lane lane;
    lane.linear = linear;
    lane.warp = linear / simt::warp_size;
    lane.lane = linear % simt::warp_size;
    return lane;
  }

  bool read(unsigned thread) { return conflicts(thread, false, false); }
  bool write(unsigned thread) { return conflicts(thread, true, false); }
  bool change(unsigned thread) { return conflicts(thread, true, true); }

  simt::Random random_{0};
  simt::Timeline timeline_;
  simt::Clocks clocks_;
  Cell word_;

 private:
  bool conflicts(unsigned thread, bool is_write, bool is_atomic) {
    const simt::Lane self = lane(thread);
    simt::Stamp stamp;
    stamp.operation = operation;
    stamp.block = clocks_.block();
    stamp.thread = static_cast<std::uint16_t>(thread);
    stamp.is_atomic = is_atomic;
    stamp.epoch = clocks_.epoch();
    stamp.clock = clocks_.clock(self);
    const simt::Accessor accessor{timeline_, clocks_, &self, stamp};
    if (is_atomic) clocks_.atomic(self, &word_);
    return (is_write ? note_write(word_, accessor, &word_) : note_read(word_, accessor, &word_)).has_value();
  }
};

TEST_F(Threads, MayDoWhatTheyLikeAlone) {
  EXPECT_FALSE(write(3));
  EXPECT_FALSE(read(3));
  EXPECT_FALSE(write(3));
}

TEST_F(Threads, ReadAfterWrite) {
  write(0);
  EXPECT_TRUE(read(1));
}

TEST_F(Threads, WriteAfterRead) {
  read(0);
  EXPECT_TRUE(write(1));
}

TEST_F(Threads, WriteAfterWrite) {
  write(0);
  EXPECT_TRUE(write(40));
}

TEST_F(Threads, ReadsDoNotConflict) {
  for (const unsigned thread : {0u, 5u, 40u, 100u}) EXPECT_FALSE(read(thread));
}

TEST_F(Threads, OfAWarpAreOrderedByItsBarrier) {
  write(0);
  clocks_.join(0, ~0u);
  EXPECT_FALSE(read(1));
  EXPECT_FALSE(read(2));
  EXPECT_TRUE(write(3));
}

TEST_F(Threads, OutsideOfTheMaskAreNotOrdered) {
  write(0);
  clocks_.join(0, 0xffff);
  EXPECT_FALSE(read(15));
  EXPECT_TRUE(read(16));
}

TEST_F(Threads, AllReadersCount) {
  read(0);
  read(1);
  read(2);
  clocks_.join(0, 0b1011);
  EXPECT_TRUE(write(3));  // lane 2 may still read
}

TEST_F(Threads, ReadersWithDifferentClocksAreAllWaitedFor) {
  clocks_.join(0, 0b0011);
  clocks_.join(0, 0b0011);
  read(0);
  read(2);
  clocks_.join(0, ~0u);
  EXPECT_FALSE(write(3));
}

TEST_F(Threads, OfAnotherWarpNeedTheBlocksBarrier) {
  write(0);
  clocks_.join(0, ~0u);
  EXPECT_TRUE(read(32));
  write(0);
  clocks_.join_block();
  EXPECT_FALSE(read(33));
}

TEST_F(Threads, OfAnotherBlockAreNotOrdered) {
  write(0);
  clocks_.join_block();
  clocks_.begin_block(1);
  EXPECT_TRUE(read(0));
}

TEST_F(Threads, ChangeAtomicallyWithoutConflict) {
  EXPECT_FALSE(change(0));
  EXPECT_FALSE(change(40));
  EXPECT_TRUE(read(41));
}

class HandOver : public Threads {
 protected:
  /// Thread 0 of block 0 writes and hands over by a flag; then block 1 begins.
  void hand_over(bool with_fence) {
    write(0);
    if (with_fence) clocks_.fence(lane(0));
    clocks_.atomic(lane(0), &flag_);
    clocks_.begin_block(1);
  }
  int flag_ = 0;
};

TEST_F(HandOver, ByFenceAndAtomic) {
  hand_over(true);
  clocks_.atomic(lane(7), &flag_);
  EXPECT_FALSE(read(7));
}

TEST_F(HandOver, NeedsTheFence) {
  hand_over(false);
  clocks_.atomic(lane(7), &flag_);
  EXPECT_TRUE(read(7));
}

TEST_F(HandOver, NeedsTheAtomicOnTheOtherSide) {
  hand_over(true);
  EXPECT_TRUE(read(7));
}

TEST_F(HandOver, DoesNotCoverWhatFollowsTheFence) {
  clocks_.fence(lane(0));
  write(0);
  clocks_.atomic(lane(0), &flag_);
  clocks_.begin_block(1);
  clocks_.atomic(lane(7), &flag_);
  EXPECT_TRUE(read(7));
}

TEST_F(HandOver, IsForOneThread) {
  hand_over(true);
  clocks_.atomic(lane(7), &flag_);
  EXPECT_TRUE(read(8));
}

TEST_F(HandOver, IsCarriedOnByBarriers) {
  hand_over(true);
  clocks_.atomic(lane(7), &flag_);
  clocks_.join(0, ~0u);
  EXPECT_FALSE(read(8));
  EXPECT_TRUE(write(40));
  write(7);
  clocks_.join_block();
  EXPECT_FALSE(write(41));
}

TEST_F(HandOver, CoversTheBlockBeforeItsBarrier) {
  write(50);
  clocks_.join_block();
  clocks_.fence(lane(0));
  clocks_.atomic(lane(0), &flag_);
  clocks_.begin_block(1);
  clocks_.atomic(lane(7), &flag_);
  EXPECT_FALSE(read(7));
}

TEST_F(HandOver, GoesOnFromBlockToBlock) {
  int second_flag = 0;
  hand_over(true);
  clocks_.atomic(lane(1), &flag_);
  clocks_.fence(lane(1));
  clocks_.atomic(lane(1), &second_flag);
  clocks_.begin_block(2);
  clocks_.atomic(lane(2), &second_flag);
  EXPECT_FALSE(read(2));
}

TEST(Shadow, IsRefinedWithItsHistory) {
  simt::Shadow shadow;
  create(shadow, 16);
  ASSERT_EQ(shadow.shift, 2u);
  shadow.cells[1].write.operation = 7;
  refine(shadow, 16);
  ASSERT_EQ(shadow.shift, 0u);
  for (unsigned byte = 0; byte < 16; ++byte) {
    EXPECT_EQ(shadow.cells[byte].write.operation, byte / 4 == 1 ? 7u : 0u) << byte;
  }
}

}  // namespace
