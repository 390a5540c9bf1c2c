// States and flags of sessions, and what they mean.

export const GROUPS = [
  ['needs_you', 'Needs you', 'it asks for a permission, or has failed'],
  ['waiting', 'Finished, waiting for you', 'its turn has ended, and you have not written since'],
  ['running', 'Running', 'its agent works'],
  ['idle', 'Idle', 'it needs nothing from you'],
  ['ended', 'Ended', 'its agent was closed'],
  ['earlier', 'Quiet for a day', 'no event for a day'],
];

export const FLAGS = {
  muted: 'its stops pass and it is not announced',
  off: 'its project is switched off',
  untrusted: 'its .checkpointd.yml is not trusted and mostly not used: checkpointd rules trust',
  unseen: 'its folder does not answer and was not looked at',
  broken: 'its .checkpointd.yml has a mistake and is not used: checkpointd status names it',
  cleared: 'its next stop passes',
  asked: 'this turn had its checkpoint',
  sending: 'a checkpoint is on its way',
  restart: 'it is being restarted',
};
