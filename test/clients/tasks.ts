/** The note's initial text, and what only its reader can know. */
export const secret = 'PURPLE-ELEPHANT-77'
export const before = 'State: draft'
export const after = 'State: final'
export const noteName = 'note.txt'
export const noteText = `The password is ${secret}.\n${before}\n`

/** The shell computes the command's output, so it appears only where the command ran. */
export const command = 'echo ran-$((40 + 2))'
export const commandOutput = 'ran-42'

export const prompt = `Read ${noteName} in the current folder, change "${before}" in it to "${after}", run \`${command}\`, and tell me the password.`

/** The model's final text. */
export const ending = `The password is ${secret} and the command printed ${commandOutput}.`

/** The change as a Codex patch. */
export const patch = `*** Begin Patch\n*** Update File: ${noteName}\n@@\n-${before}\n+${after}\n*** End Patch\n`
