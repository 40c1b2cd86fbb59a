/** What the note says before anything is done, and what only who read it can know. */
export const secret = 'PURPLE-ELEPHANT-77'
export const before = 'State: draft'
export const after = 'State: final'
export const noteName = 'note.txt'
export const noteText = `The password is ${secret}.\n${before}\n`

/** The command's output is worked out by the shell, so that it is seen only where the command ran. */
export const command = 'echo ran-$((40 + 2))'
export const commandOutput = 'ran-42'

export const prompt = `Read ${noteName} in the current folder, change "${before}" in it to "${after}", run \`${command}\`, and tell me the password.`

/** What the model says at the end. */
export const ending = `The password is ${secret} and the command printed ${commandOutput}.`

/** The change in the form that Codex calls a patch. */
export const patch = `*** Begin Patch\n*** Update File: ${noteName}\n@@\n-${before}\n+${after}\n*** End Patch\n`
