const nameForm = /^tollgate-\d{8}T\d{6}Z\.backup$/

/** The name of a scheduled backup. */
export function backupName(time: Date): string {
  return `tollgate-${time.toISOString().replace(/[-:]/g, '').slice(0, 15)}Z.backup`
}

/** True for names of scheduled backups. Only files with such names are ever deleted. */
export function isBackupName(name: string): boolean {
  return nameForm.test(name)
}
